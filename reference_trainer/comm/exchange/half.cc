// SPDX-License-Identifier: MIT
// Half the bytes: gradients are rounded to half precision and summed in it, in one ring or by
// nodes. Rounding errors are added to the next step's gradient (error feedback), so nothing is lost
// for good. Gradients are divided by the number of ranks before they are sent, because their sum
// must fit the format.
#include "reference_trainer/comm/bucket.h"

namespace headway::trainer::exchange {

void add_half(Bucket& bucket) {
  const std::int64_t count = bucket.count();
  const float factor = 1 / bucket.options().average_over;
  auto* const residual = bucket.buffer<float>(count);
  auto* const halves = bucket.buffer<std::uint16_t>(count);
  bucket.add_pack();
  bucket.add_kernel("compress/half",
                    kernels::CompressHalf{count, bucket.flat(), factor, residual, halves});
  bucket.add_sum(ElementType::kHalf, halves);
  bucket.add_kernel("decompress/half", kernels::DecompressHalf{count, halves, bucket.flat()});
  bucket.add_unpack(1);
}

}  // namespace headway::trainer::exchange
