// SPDX-License-Identifier: MIT
#include "kernels/trust_ratio/launch.h"

namespace headway::kernels::cuda {

Launches squared_norms(const Limits& limits, NormOf of, NumberFormat format, const TableStep& by,
                       std::span<const TableTensor> tensors) {
  require_aligned(by.parts, 8, "squared_norms", "the sums of chunks");
  require_aligned(by.squares, 8, "squared_norms", "the result");
  std::string name = "norm_gradient";
  if (of != NormOf::kGradient) {
    require(format == NumberFormat::kFloat32, "squared_norms", "only gradients can be narrow");
    name = of == NormOf::kParameter ? "norm_parameter" : "norm_direction";
  }
  Launches launches =
      table_launches(limits, "trust_ratio", kernel_name(name.c_str(), format), by, tensors);
  for (Launch& finish : table_launches(limits, "trust_ratio", "norm_finish", by, tensors))
    launches.push_back(std::move(finish));
  return launches;
}

Launches lamb_directions(const Limits& limits, NumberFormat format, const TableStep& by,
                         std::span<const TableTensor> tensors) {
  return table_launches(limits, "trust_ratio", kernel_name("lamb_directions", format), by, tensors);
}

Launches lamb_apply(const Limits& limits, const TableStep& by,
                    std::span<const TableTensor> tensors) {
  return table_launches(limits, "trust_ratio", "lamb_apply", by, tensors);
}

Launches lars_apply(const Limits& limits, NumberFormat format, const TableStep& by,
                    std::span<const TableTensor> tensors) {
  return table_launches(limits, "trust_ratio", kernel_name("lars_apply", format), by, tensors);
}

}  // namespace headway::kernels::cuda
