// SPDX-License-Identifier: MIT
#include "kernels/update_passes/launch.h"

#include <array>

#include "kernels/adam/op.h"

namespace headway::kernels::cuda {
namespace {

struct Pass {
  const char* kernel;
  bool reads_gradient;
};

Launches launches_of(const Limits& limits, NumberFormat format, const Pass& pass,
                     const TableStep& by, std::span<const TableTensor> tensors) {
  for (const TableTensor& tensor : tensors)
    require_aligned(tensor.direction, 4, pass.kernel, "the memory between passes");
  return table_launches(
      limits, "update_passes",
      kernel_name(pass.kernel, pass.reads_gradient ? format : NumberFormat::kFloat32), by, tensors);
}

}  // namespace

Launches sgd_pass(const Limits& limits, NumberFormat format, SgdPass pass, const TableStep& by,
                  std::span<const TableTensor> tensors) {
  static constexpr std::array<Pass, 4> kPasses = {
      {{"sgd_decay", true}, {"sgd_scale", false}, {"sgd_accumulate", false}, {"sgd_apply", false}}};
  return launches_of(limits, format, kPasses[static_cast<std::size_t>(pass)], by, tensors);
}

Launches adam_pass(const Limits& limits, NumberFormat format, int pass, const TableStep& by,
                   std::span<const TableTensor> tensors) {
  static constexpr std::array<Pass, kAdamPasses> kPasses = {{{"adam_mean_scale", false},
                                                             {"adam_mean_add", true},
                                                             {"adam_square_scale", false},
                                                             {"adam_square_add", true},
                                                             {"adam_size", false},
                                                             {"adam_decay", false},
                                                             {"adam_apply", false}}};
  require(pass >= 0 && pass < kAdamPasses, "adam_pass", "there is no such pass");
  return launches_of(limits, format, kPasses[static_cast<std::size_t>(pass)], by, tensors);
}

}  // namespace headway::kernels::cuda
