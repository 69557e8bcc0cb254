// SPDX-License-Identifier: MIT
#include "kernels/lstm/op.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/loops/loops.h"
#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

/// gates = input + (h of the step before) · weights, for some of the sequences and columns.
void product(const LstmShape& s, std::int64_t step, const LstmForward& a, std::int64_t first,
             std::int64_t last, std::int64_t from, std::int64_t to) {
  const std::int64_t n = s.gate_columns();
  for (std::int64_t row = first; row < last; ++row) {
    const std::int64_t at = (step * s.rows + row) * n + from;
    std::memcpy(a.gates + at, a.input + at, static_cast<std::size_t>(to - from) * sizeof(float));
  }
  if (step == 0) return;
  loops().small_gemm({last - first, to - from, s.hidden,
                      a.h + ((step - 1) * s.rows + first) * s.hidden, s.hidden, 1, a.weights + from,
                      n, a.gates + (step * s.rows + first) * n + from, n, true});
}

void cell(const LstmShape& s, std::int64_t step, const LstmForward& a, std::int64_t first,
          std::int64_t last) {
  const std::int64_t n = s.hidden;
  for (std::int64_t row = first; row < last; ++row) {
    const std::int64_t at = (step * s.rows + row) * n;
    const std::int64_t before = at - s.rows * n;
    loops().lstm_cell(n, a.gates + 4 * at, step > 0 ? a.cell + before : nullptr, a.cell + at,
                      a.h + at);
    if (step > 0) {
      std::memcpy(a.before + at, a.h + before, static_cast<std::size_t>(n) * sizeof(float));
    } else {
      std::fill_n(a.before + at, n, 0.0F);
    }
  }
}

void backward_cell(const LstmShape& s, std::int64_t step, const LstmBackward& a, std::int64_t first,
                   std::int64_t last) {
  const std::int64_t n = s.hidden;
  for (std::int64_t row = first; row < last; ++row) {
    const std::int64_t at = (step * s.rows + row) * n;
    loops().lstm_cell_backward(n, a.gates + 4 * at, step > 0 ? a.cell + at - s.rows * n : nullptr,
                               a.cell + at, a.dh + at, a.dh_later + row * n, a.dcell + row * n,
                               a.dgates + 4 * at);
  }
}

/// The gradient that step `step` passes to the step before.
void backward_product(const LstmShape& s, std::int64_t step, const LstmBackward& a,
                      std::int64_t first, std::int64_t last, std::int64_t from, std::int64_t to) {
  const std::int64_t n = s.gate_columns();
  loops().small_gemm({last - first, to - from, n, a.dgates + (step * s.rows + first) * n, n, 1,
                      a.weights + from, s.hidden, a.dh_later + first * s.hidden + from, s.hidden,
                      false});
}

/// Threads share the sequences.
template <class Body>
void for_sequences(const LstmShape& s, std::int64_t work_per_row, const Body& body) {
  const std::int64_t grain =
      std::max<std::int64_t>(1, kFlatGrain / std::max<std::int64_t>(1, work_per_row));
  parallel_for(s.rows, grain, max_threads(), body);
}

/// Threads share the columns of a product, in blocks of whole vectors.
template <class Body>
void for_columns(const LstmShape& s, std::int64_t columns, const Body& body) {
  constexpr std::int64_t kBlock = 64;
  const std::int64_t blocks = (columns + kBlock - 1) / kBlock;
  const std::int64_t work = s.rows * s.hidden * kBlock / 8;
  parallel_for(blocks, std::max<std::int64_t>(1, kFlatGrain / std::max<std::int64_t>(1, work)),
               max_threads(), [&](std::int64_t begin, std::int64_t end) {
                 body(begin * kBlock, std::min(columns, end * kBlock));
               });
}

}  // namespace

void lstm_pack(const LstmShape& s, const float* weights, float* packed) {
  loops().transpose(s.gate_columns(), s.hidden, weights, s.hidden, 1, packed, s.gate_columns());
}

void lstm_forward(const LstmShape& s, std::int64_t used, const LstmForward& a) {
  for_sequences(s, s.hidden * s.hidden, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t step = 0; step < used; ++step) {
      product(s, step, a, first, last, 0, s.gate_columns());
      cell(s, step, a, first, last);
    }
  });
  lstm_clear_forward(s, used, a);
}

void lstm_backward(const LstmShape& s, std::int64_t used, const LstmBackward& a) {
  for_sequences(s, s.hidden * s.hidden, [&](std::int64_t first, std::int64_t last) {
    std::fill(a.dh_later + first * s.hidden, a.dh_later + last * s.hidden, 0.0F);
    std::fill(a.dcell + first * s.hidden, a.dcell + last * s.hidden, 0.0F);
    for (std::int64_t step = used; step-- > 0;) {
      backward_cell(s, step, a, first, last);
      if (step > 0) backward_product(s, step, a, first, last, 0, s.hidden);
    }
  });
  lstm_clear_backward(s, used, a);
}

void lstm_step_product(const LstmShape& s, std::int64_t step, const LstmForward& a) {
  for_columns(s, s.gate_columns(), [&](std::int64_t from, std::int64_t to) {
    product(s, step, a, 0, s.rows, from, to);
  });
}

void lstm_step_cell(const LstmShape& s, std::int64_t step, const LstmForward& a) {
  for_sequences(s, 16 * s.hidden,
                [&](std::int64_t first, std::int64_t last) { cell(s, step, a, first, last); });
}

void lstm_backward_cell(const LstmShape& s, std::int64_t step, const LstmBackward& a) {
  for_sequences(s, 16 * s.hidden, [&](std::int64_t first, std::int64_t last) {
    backward_cell(s, step, a, first, last);
  });
}

void lstm_backward_product(const LstmShape& s, std::int64_t step, const LstmBackward& a) {
  for_columns(s, s.hidden, [&](std::int64_t from, std::int64_t to) {
    backward_product(s, step, a, 0, s.rows, from, to);
  });
}

void lstm_clear_forward(const LstmShape& s, std::int64_t used, const LstmForward& a) {
  const std::int64_t first = used * s.rows * s.hidden;
  const std::int64_t count = s.steps * s.rows * s.hidden - first;
  std::fill_n(a.gates + 4 * first, 4 * count, 0.0F);
  for (float* each : {a.cell, a.h, a.before}) std::fill_n(each + first, count, 0.0F);
}

void lstm_clear_backward(const LstmShape& s, std::int64_t used, const LstmBackward& a) {
  const std::int64_t first = used * s.rows * s.gate_columns();
  std::fill_n(a.dgates + first, s.steps * s.rows * s.gate_columns() - first, 0.0F);
}

std::int64_t used_steps(const LstmShape& s, const std::int32_t* tokens) {
  for (std::int64_t i = s.steps * s.rows; i-- > 0;)
    if (tokens[i] >= 0) return i / s.rows + 1;
  return 0;
}

namespace reference {

void lstm_forward(const LstmShape& s, const float* input, const float* weights, float* h) {
  const auto n = static_cast<std::size_t>(s.hidden);
  for (std::int64_t row = 0; row < s.rows; ++row) {
    std::vector<double> state(n);
    std::vector<double> memory(n);
    for (std::int64_t step = 0; step < s.steps; ++step) {
      const float* x = input + (step * s.rows + row) * s.gate_columns();
      std::vector<double> z(4 * n);
      for (std::size_t i = 0; i < 4 * n; ++i) {
        z[i] = x[i];
        for (std::size_t k = 0; k < n; ++k) z[i] += double{weights[i * n + k]} * state[k];
      }
      auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
      for (std::size_t i = 0; i < n; ++i) {
        memory[i] = sigmoid(z[n + i]) * memory[i] + sigmoid(z[i]) * std::tanh(z[2 * n + i]);
        state[i] = sigmoid(z[3 * n + i]) * std::tanh(memory[i]);
        h[(step * s.rows + row) * s.hidden + static_cast<std::int64_t>(i)] =
            static_cast<float>(state[i]);
      }
    }
  }
}

}  // namespace reference
}  // namespace headway::kernels
