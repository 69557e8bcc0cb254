// SPDX-License-Identifier: MIT
#include "analyzer/evidence/attention_kernels.h"

namespace headway::analyzer {
namespace {

constexpr std::size_t kReach = 8;

}  // namespace

std::size_t product_beside(const KernelNames& kernels, std::span<const trace::DeviceOpId> ops,
                           std::size_t from, std::ptrdiff_t step) {
  std::size_t i = from;
  for (std::size_t n = 0; n <= kReach; ++n) {
    i += static_cast<std::size_t>(step);  // below 0 wraps to beyond the end
    if (i >= ops.size()) break;
    const KernelFamily family = kernels.of(ops[i]).family;
    if (family == KernelFamily::kGemm) return i;
    // A compiler joins scale, mask and their gradients, and leaves the softmax and the products apart.
    if (family == KernelFamily::kFused) continue;
    if (!is_fusible(family) || family == KernelFamily::kNormalisation) break;
  }
  return ops.size();
}

}  // namespace headway::analyzer
