// SPDX-License-Identifier: MIT
#include "kernels/compress_half/op.h"

#include "kernels/half.h"
#include "kernels/parallel.h"

namespace headway::kernels {

void run(const CompressHalf& op) {
  parallel_for(op.count, kFlatGrain, max_threads(), [&op](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const float wanted = op.from[i] * op.factor + op.residual[i];
      op.to[i] = to_half(wanted);
      op.residual[i] = wanted - from_half(op.to[i]);
    }
  });
}

void run(const DecompressHalf& op) {
  parallel_for(op.count, kFlatGrain, max_threads(), [&op](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) op.to[i] = from_half(op.from[i]);
  });
}

}  // namespace headway::kernels
