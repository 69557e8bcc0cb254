// SPDX-License-Identifier: MIT
// A quarter of the bytes: blocks of values as 8-bit integers with one scale, gathered from all
// ranks and summed by each. Rounding errors are added to the next gradient. Gathering moves n - 1
// times the message, an allreduce twice: compression pays up to eight ranks.
#include "reference_trainer/comm/bucket.h"

namespace headway::trainer::exchange {

void add_int8(Bucket& bucket) {
  constexpr std::int64_t kAlignment = 16;
  const std::int64_t count = bucket.count();
  const std::int64_t ranks = bucket.size();
  const std::int64_t stride =
      (kernels::int8_message_bytes(count) + kAlignment - 1) / kAlignment * kAlignment;
  auto* const residual = bucket.buffer<float>(count);
  auto* const messages = bucket.buffer<std::byte>(stride * ranks);
  bucket.add_pack();
  bucket.add_kernel("compress/int8",
                    kernels::CompressInt8{count, bucket.flat(), residual,
                                          Bucket::at(messages, stride * bucket.rank())});
  bucket.add_collective(CollectiveKind::kAllGather, Scope::kWorld, ElementType::kByte, messages,
                        stride * ranks);
  bucket.add_kernel("decompress/int8",
                    kernels::DecompressInt8{count, bucket.size(), stride, messages, bucket.flat()});
  bucket.add_unpack(1 / bucket.options().average_over);
}

}  // namespace headway::trainer::exchange
