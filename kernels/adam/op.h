// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "kernels/loops/adam_step.h"
#include "kernels/number_format.h"
#include "kernels/work.h"

namespace headway::kernels {

/// Returns `by` with the corrections of step `t` >= 1.
AdamStep at_step(AdamStep by, std::int64_t t);

/// One parameter tensor. No two pointers overlap. With a `master`, the update changes `master`, and
/// `parameter` receives its values rounded to `format`.
struct AdamTensor {
  float* parameter = nullptr;
  float* mean = nullptr;
  float* variance = nullptr;
  const float* gradient = nullptr;
  float* master = nullptr;  ///< may be null
  std::int64_t count = 0;
  NumberFormat format = NumberFormat::kFloat32;
  float* trained() const { return master ? master : parameter; }
};

/// One pass over all tensors.
void adam_multi_tensor(std::span<const AdamTensor> tensors, const AdamStep& by);
constexpr Work adam_work(std::int64_t count) {
  return {13 * count, 28 * count};  // p, m, v read and written, g read
}

/// Adam as seven elementwise passes, as in an optimizer made of elementwise operations; `scratch`
/// holds count floats. `part` 0..6 selects the pass.
inline constexpr int kAdamPasses = 7;
void adam_pass(int part, const AdamTensor& tensor, const AdamStep& by, float* scratch);
Work adam_pass_work(int part, std::int64_t count);

namespace reference {
/// Computed in double, rounded once at the end.
void adam(const AdamTensor& tensor, const AdamStep& by);
}  // namespace reference

}  // namespace headway::kernels
