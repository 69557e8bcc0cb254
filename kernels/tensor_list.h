// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/parallel.h"

namespace headway::kernels {

/// Calls piece(tensor, from, to) so that every element of every tensor is covered once. Threads
/// share the elements of all tensors together, not the tensors. `Tensor` has a `count`.
template <class Tensor, class Piece>
void for_each_piece(std::span<const Tensor> tensors, const Piece& piece) {
  std::int64_t total = 0;
  for (const Tensor& tensor : tensors) total += tensor.count;
  parallel_for(total, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    std::int64_t first = 0;  // position of the tensor's first element among all elements
    for (const Tensor& tensor : tensors) {
      const std::int64_t from = std::max<std::int64_t>(begin - first, 0);
      const std::int64_t to = std::min(end - first, tensor.count);
      if (from < to) piece(tensor, from, to);
      first += tensor.count;
    }
  });
}

}  // namespace headway::kernels
