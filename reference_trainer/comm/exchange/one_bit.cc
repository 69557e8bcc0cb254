// SPDX-License-Identifier: MIT
// A bit per value (kernels/compress_one_bit/op.h), exchanged as Seide et al. (2014) do: each rank
// sums one part of the gradients. An all-to-all brings it that part from all ranks; the sums are
// compressed again, with a residual of that rank, and gathered. Each link moves twice the message,
// whatever the number of ranks. Rounding errors of both are added to the next gradient.
#include <algorithm>

#include "reference_trainer/comm/bucket.h"

namespace headway::trainer::exchange {

void add_one_bit(Bucket& bucket) {
  const std::int64_t count = bucket.count();
  const std::int64_t ranks = bucket.size();
  const std::int64_t part = kernels::one_bit_part(count, ranks);
  const std::int64_t bytes = kernels::one_bit_message_bytes(part);
  const std::int64_t first = std::min(count, part * bucket.rank());
  const std::int64_t own = std::min(part, count - first);
  auto* const residual = bucket.buffer<float>(count);
  auto* const residual_of_sums = bucket.buffer<float>(part);
  auto* const messages = bucket.buffer<std::byte>(bytes * ranks);
  float* const sums = Bucket::at(bucket.flat(), first);
  bucket.add_pack();
  bucket.add_kernel("compress/onebit",
                    kernels::CompressOneBit{count, part, bucket.flat(), residual, messages});
  bucket.add_collective(CollectiveKind::kAllToAll, Scope::kWorld, ElementType::kByte, messages,
                        bytes * ranks);
  bucket.add_kernel("decompress/onebit_sum",
                    kernels::DecompressOneBit{own, part, bucket.size(), messages, sums});
  bucket.add_kernel("compress/onebit_sum",
                    kernels::CompressOneBit{own, part, sums, residual_of_sums,
                                            Bucket::at(messages, bytes * bucket.rank())});
  bucket.add_collective(CollectiveKind::kAllGather, Scope::kWorld, ElementType::kByte, messages,
                        bytes * ranks);
  bucket.add_kernel("decompress/onebit",
                    kernels::DecompressOneBit{count, part, 1, messages, bucket.flat()});
  bucket.add_unpack(1 / bucket.options().average_over);
}

}  // namespace headway::trainer::exchange
