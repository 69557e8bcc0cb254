// SPDX-License-Identifier: MIT
// Half the bytes: gradients are rounded to half precision and summed in it. What rounding takes away
// is added to the next step's gradient (error feedback), so nothing is lost for good. Gradients are
// divided by the number of ranks before they are sent: their sum must fit the format.
#include "reference_trainer/comm/exchange/half.h"

#include "reference_trainer/comm/bucket.h"

namespace headway::trainer::exchange {

void add_half(Bucket& bucket) {
  const std::int64_t count = bucket.count();
  const float factor = 1 / bucket.options().average_over;
  auto& residual = bucket.buffer(count);
  auto& halves = bucket.byte_buffer(count * 2);
  auto half = [&halves] { return reinterpret_cast<std::uint16_t*>(halves.data()); };
  bucket.add_pack();
  bucket.add_kernel("compress/half", {2 * count, 14 * count}, [=, &bucket, &residual] {
    const float* from = bucket.flat();
    std::uint16_t* to = half();
    for (std::int64_t i = 0; i < count; ++i) {
      const float wanted = from[i] * factor + residual[static_cast<std::size_t>(i)];
      to[i] = to_half(wanted);
      residual[static_cast<std::size_t>(i)] = wanted - from_half(to[i]);
    }
  });
  bucket.add_collective(
      CollectiveKind::kAllReduce, Scope::kWorld, 2 * count, "f16", [=](CommBackend& backend) {
        backend.all_reduce_half(Scope::kWorld, {half(), static_cast<std::size_t>(count)});
      });
  bucket.add_kernel("decompress/half", {0, 6 * count}, [=, &bucket] {
    float* to = bucket.flat();
    for (std::int64_t i = 0; i < count; ++i) to[i] = from_half(half()[i]);
  });
  bucket.add_unpack(1);
}

}  // namespace headway::trainer::exchange
