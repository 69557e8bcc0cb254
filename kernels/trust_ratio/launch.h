// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/tensor_table.h"
#include "kernels/trust_ratio/op.h"

namespace headway::kernels::cuda {

/// Which array of a tensor the norm is of.
enum class NormOf { kParameter, kGradient, kDirection };

/// by.squares[i] = sum of squares of tensor i's array (kernels/trust_ratio/op.h), in float within a
/// chunk and in double across chunks; the bits are the same in every run. `by.parts`: count_chunks
/// doubles. Only gradients may have a format other than FP32.
Launches squared_norms(const Limits& limits, NormOf of, NumberFormat format, const TableStep& by,
                       std::span<const TableTensor> tensors);
/// The first half of LAMB computes moments and directions. The second half makes the step, from the
/// squares.
Launches lamb_directions(const Limits& limits, NumberFormat format, const TableStep& by,
                         std::span<const TableTensor> tensors);
Launches lamb_apply(const Limits& limits, const TableStep& by,
                    std::span<const TableTensor> tensors);
/// LARS after the norms; `first` is the velocity.
Launches lars_apply(const Limits& limits, NumberFormat format, const TableStep& by,
                    std::span<const TableTensor> tensors);

}  // namespace headway::kernels::cuda
