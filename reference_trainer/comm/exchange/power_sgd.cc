// SPDX-License-Identifier: MIT
// PowerSGD (Vogels et al., 2019): each gradient matrix M [n, m] plus its error so far is replaced by
// P·Q' of rank r. One power iteration per exchange, started from the last Q: P = M·Q, summed over
// ranks, made orthogonal; Q = M'·P, summed. Vectors, and matrices for which it saves less than half,
// go uncompressed together with Q. What is left out is added to the next gradient.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "reference_trainer/comm/bucket.h"
#include "reference_trainer/data/random.h"

namespace headway::trainer::exchange {
namespace {

struct Matrix {
  std::int64_t offset = 0;  ///< in the fusion buffer
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t p = 0;  ///< offsets in the messages
  std::int64_t q = 0;
};
struct Rest {
  std::int64_t offset = 0;
  std::int64_t count = 0;
  std::int64_t at = 0;  ///< in the second message, behind all Q
};

struct State {
  int rank = 1;
  std::vector<Matrix> matrices;
  std::vector<Rest> rest;
  std::int64_t p_count = 0;
  std::int64_t second_count = 0;
  std::int64_t matrix_elements = 0;
  std::vector<float> error;  ///< of the whole fusion buffer
  std::vector<float> p;
  std::vector<float> second;  ///< Q, then the rest
};

void plan(const Bucket& bucket, State& s) {
  std::int64_t offset = 0;
  for (const GradientTensor& tensor : bucket.tensors()) {
    const std::int64_t columns = tensor.rows > 0 ? tensor.count / tensor.rows : 0;
    const bool matrix = tensor.rows > 1 && columns > 1 && tensor.rows * columns == tensor.count &&
                        2 * s.rank * (tensor.rows + columns) < tensor.count;
    if (matrix) {
      s.matrices.push_back({offset, tensor.rows, columns, s.p_count, s.second_count});
      s.p_count += tensor.rows * s.rank;
      s.second_count += columns * s.rank;
      s.matrix_elements += tensor.count;
    } else {
      s.rest.push_back({offset, tensor.count, 0});
    }
    offset += tensor.count;
  }
  for (Rest& rest : s.rest) {
    rest.at = s.second_count;
    s.second_count += rest.count;
  }
}

/// P = M·Q for every matrix, M being gradient plus error.
void first_half(State& s, float* flat, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) flat[i] += s.error[static_cast<std::size_t>(i)];
  for (const Matrix& m : s.matrices) {
    for (std::int64_t row = 0; row < m.rows; ++row) {
      const float* values = flat + m.offset + row * m.columns;
      for (int k = 0; k < s.rank; ++k) {
        const float* q = s.second.data() + m.q + k * m.columns;
        float sum = 0;
        for (std::int64_t c = 0; c < m.columns; ++c) sum += values[c] * q[c];
        s.p[static_cast<std::size_t>(m.p + k * m.rows + row)] = sum;
      }
    }
  }
}

/// Gram-Schmidt over the columns of P, which lie one after another.
void orthogonalise(float* p, std::int64_t rows, int rank) {
  for (int k = 0; k < rank; ++k) {
    float* column = p + k * rows;
    for (int before = 0; before < k; ++before) {
      const float* other = p + before * rows;
      float along = 0;
      for (std::int64_t i = 0; i < rows; ++i) along += column[i] * other[i];
      for (std::int64_t i = 0; i < rows; ++i) column[i] -= along * other[i];
    }
    float norm = 0;
    for (std::int64_t i = 0; i < rows; ++i) norm += column[i] * column[i];
    const float scale = 1 / (std::sqrt(norm) + 1e-8F);
    for (std::int64_t i = 0; i < rows; ++i) column[i] *= scale;
  }
}

/// Q = M'·P, and the rest beside it.
void second_half(State& s, const float* flat) {
  for (const Matrix& m : s.matrices) {
    float* p = s.p.data() + m.p;
    orthogonalise(p, m.rows, s.rank);
    float* q = s.second.data() + m.q;
    std::fill_n(q, m.columns * s.rank, 0.0F);
    for (std::int64_t row = 0; row < m.rows; ++row) {
      const float* values = flat + m.offset + row * m.columns;
      for (int k = 0; k < s.rank; ++k) {
        const float weight = p[k * m.rows + row];
        for (std::int64_t c = 0; c < m.columns; ++c) q[k * m.columns + c] += weight * values[c];
      }
    }
  }
  for (const Rest& rest : s.rest)
    std::memcpy(s.second.data() + rest.at, flat + rest.offset,
                static_cast<std::size_t>(rest.count) * sizeof(float));
}

/// flat becomes the approximation of the mean, error what this rank's own gradient had beyond it.
void restore(State& s, float* flat, float average_over) {
  const float factor = 1 / average_over;
  for (float& value : s.second) value *= factor;
  for (const Matrix& m : s.matrices) {
    const float* p = s.p.data() + m.p;
    const float* q = s.second.data() + m.q;
    for (std::int64_t row = 0; row < m.rows; ++row) {
      for (std::int64_t c = 0; c < m.columns; ++c) {
        float value = 0;
        for (int k = 0; k < s.rank; ++k) value += p[k * m.rows + row] * q[k * m.columns + c];
        const std::int64_t at = m.offset + row * m.columns + c;
        s.error[static_cast<std::size_t>(at)] = flat[at] - value;
        flat[at] = value;
      }
    }
  }
  for (const Rest& rest : s.rest)
    std::memcpy(flat + rest.offset, s.second.data() + rest.at,
                static_cast<std::size_t>(rest.count) * sizeof(float));
}

}  // namespace

void add_power_sgd(Bucket& bucket) {
  auto state = std::make_shared<State>();
  state->rank = bucket.options().rank;
  plan(bucket, *state);
  const std::int64_t count = bucket.count();
  if (bucket.computes()) {
    state->error.resize(static_cast<std::size_t>(count));
    state->p.resize(static_cast<std::size_t>(state->p_count));
    state->second.resize(static_cast<std::size_t>(state->second_count));
    Random random(bucket.options().seed, 0x9057, 0);  // the same on all ranks
    for (float& value : state->second) value = static_cast<float>(random.normal());
  }
  const std::int64_t flops = 2 * state->matrix_elements * state->rank;
  bucket.add_pack();
  if (state->p_count > 0) {
    bucket.add_kernel("compress/power_p", {flops, 12 * count},
                      [&bucket, state, count] { first_half(*state, bucket.flat(), count); });
    bucket.add_collective(
        CollectiveKind::kAllReduce, Scope::kWorld, 4 * state->p_count, "f32",
        [state](CommBackend& backend) { backend.all_reduce(Scope::kWorld, state->p); });
  }
  bucket.add_kernel("compress/power_q", {flops, 8 * count},
                    [&bucket, state] { second_half(*state, bucket.flat()); });
  bucket.add_collective(
      CollectiveKind::kAllReduce, Scope::kWorld, 4 * state->second_count, "f32",
      [state](CommBackend& backend) { backend.all_reduce(Scope::kWorld, state->second); });
  bucket.add_kernel("decompress/power", {flops, 12 * count}, [&bucket, state] {
    restore(*state, bucket.flat(), bucket.options().average_over);
  });
  bucket.add_unpack(1);
}

}  // namespace headway::trainer::exchange
