// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include "analyzer/kernels/families.h"

namespace headway::analyzer {

/// Index of the matrix product that kernel `from` of a stream (a softmax) is joined to over at most eight
/// memory-bound kernels, going by `step` (+1, -1); ops.size() when there is none within reach.
std::size_t product_beside(const KernelNames& kernels, std::span<const trace::DeviceOpId> ops,
                           std::size_t from, std::ptrdiff_t step);

}  // namespace headway::analyzer
