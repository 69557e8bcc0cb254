// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// One LSTM layer (Hochreiter and Schmidhuber 1997, with forget gates) over `steps` time steps of
/// `rows` sequences, time-major: row t·rows + b is step t of sequence b. With the gates i, f, g, o
/// side by side [4·hidden]:
///   z_t = x_t·W_xᵀ + b + h_{t-1}·W_hᵀ;   i, f, o = sigmoid(z), g = tanh(z)
///   c_t = f·c_{t-1} + i·g;   h_t = o·tanh(c_t);   c_{-1} = h_{-1} = 0
/// The part of x is an ordinary product for all steps at once, passed in as `input`. Steps from
/// `used` on are skipped: their results are 0 and they contribute no gradient.
struct LstmShape {
  std::int64_t steps = 0;
  std::int64_t rows = 0;
  std::int64_t hidden = 0;
  std::int64_t gate_columns() const { return 4 * hidden; }
};

struct LstmForward {
  const float* input = nullptr;    ///< [steps·rows][4·hidden]
  const float* weights = nullptr;  ///< packed by lstm_pack: [hidden][4·hidden]
  float* gates = nullptr;          ///< [steps·rows][4·hidden], after their functions
  float* cell = nullptr;           ///< [steps·rows][hidden]
  float* h = nullptr;              ///< [steps·rows][hidden]
  float* before = nullptr;         ///< the same one step later: h_{t-1}, for the weights' gradient
};
struct LstmBackward {
  const float* gates = nullptr;
  const float* cell = nullptr;
  const float* dh = nullptr;
  const float* weights = nullptr;  ///< [4·hidden][hidden]
  float* dgates = nullptr;         ///< [steps·rows][4·hidden]: the gradient of `input`
  float* dh_later = nullptr;       ///< [rows][hidden], scratch that one step passes to the next
  float* dcell = nullptr;          ///< [rows][hidden], likewise
};

/// W_h [4·hidden][hidden] transposed to [hidden][4·hidden].
void lstm_pack(const LstmShape& shape, const float* weights, float* packed);

/// The whole layer in one call: each thread processes its sequences over all steps and needs no
/// synchronisation.
void lstm_forward(const LstmShape& shape, std::int64_t used, const LstmForward& arguments);
void lstm_backward(const LstmShape& shape, std::int64_t used, const LstmBackward& arguments);

/// The same step by step, two calls per step, as in a recurrent layer without a persistent kernel.
/// Call forward for steps 0, 1, ...; backward for steps ..., 1, 0, the cell first. dh_later and
/// dcell must be 0 before the first backward call.
void lstm_step_product(const LstmShape& shape, std::int64_t step, const LstmForward& arguments);
void lstm_step_cell(const LstmShape& shape, std::int64_t step, const LstmForward& arguments);
void lstm_backward_cell(const LstmShape& shape, std::int64_t step, const LstmBackward& arguments);
void lstm_backward_product(const LstmShape& shape, std::int64_t step,
                           const LstmBackward& arguments);
/// Sets the results of the skipped steps to zero.
void lstm_clear_forward(const LstmShape& shape, std::int64_t used, const LstmForward& arguments);
void lstm_clear_backward(const LstmShape& shape, std::int64_t used, const LstmBackward& arguments);

/// The number of steps that some sequence uses: one more than the last step with a token >= 0.
std::int64_t used_steps(const LstmShape& shape, const std::int32_t* tokens);

inline Work lstm_product_work(const LstmShape& s) {  // of one step; the same for backward
  return {8 * s.rows * s.hidden * s.hidden, 16 * s.hidden * s.hidden + 36 * s.rows * s.hidden};
}
inline Work lstm_cell_work(const LstmShape& s) {
  return {60 * s.rows * s.hidden, 56 * s.rows * s.hidden};
}
/// The persistent form reads its weights once.
inline Work lstm_work(const LstmShape& s) {
  const Work step = lstm_product_work(s) + lstm_cell_work(s);
  const std::int64_t weights = 16 * s.hidden * s.hidden;
  return {s.steps * step.flops, s.steps * (step.bytes - weights) + weights};
}

namespace reference {
/// Computed in double, from unpacked weights [4·hidden][hidden]; only h.
void lstm_forward(const LstmShape& shape, const float* input, const float* weights, float* h);
}  // namespace reference

}  // namespace headway::kernels
