// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/tensor_table.h"
#include "kernels/trust_ratio/op.h"

namespace headway::kernels::cuda {

/// Which array of a tensor's.
enum class NormOf { kParameter, kGradient, kDirection };

/// by.squares[i] = sum of squares of tensor i's array (kernels/trust_ratio/op.h), in float by chunk and double across;
/// the same bits in every run. `by.parts`: count_chunks doubles. Only gradients have a format other than FP32.
Launches squared_norms(const Limits& limits, NormOf of, NumberFormat format, const TableStep& by,
                       std::span<const TableTensor> tensors);
/// First half of LAMB: moments and directions. Second: the step, by the squares.
Launches lamb_directions(const Limits& limits, NumberFormat format, const TableStep& by,
                         std::span<const TableTensor> tensors);
Launches lamb_apply(const Limits& limits, const TableStep& by,
                    std::span<const TableTensor> tensors);
/// All of LARS after the norms; `first` is the velocity.
Launches lars_apply(const Limits& limits, NumberFormat format, const TableStep& by,
                    std::span<const TableTensor> tensors);

}  // namespace headway::kernels::cuda
