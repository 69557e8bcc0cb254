// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include "analyzer/kernels/families.h"

namespace headway::analyzer {

/// Index of the matrix product that the softmax `ops[from]` reaches in direction `step` (+1 or -1),
/// across at most eight memory-bound kernels of its stream; ops.size() if it reaches none.
std::size_t product_beside(const KernelNames& kernels, std::span<const trace::DeviceOpId> ops,
                           std::size_t from, std::ptrdiff_t step);

}  // namespace headway::analyzer
