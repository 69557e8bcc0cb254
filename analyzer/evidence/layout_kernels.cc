// SPDX-License-Identifier: MIT
#include "analyzer/evidence/layout_kernels.h"

namespace headway::analyzer {

bool changes_image_layout(const KernelNames& kernels, std::span<const trace::DeviceOpId> ops,
                          std::size_t i) {
  const KernelTraits traits = kernels.of(ops[i]);
  if (traits.family != KernelFamily::kLayoutTransform) return false;
  auto convolution = [&](std::size_t at) {
    return kernels.of(ops[at]).family == KernelFamily::kConvolution;
  };
  return !traits.framework || (i > 0 && convolution(i - 1)) ||
         (i + 1 < ops.size() && convolution(i + 1));
}

}  // namespace headway::analyzer
