// SPDX-License-Identifier: MIT
// A quarter of the bytes: blocks of 1024 values as 8-bit integers with one scale, gathered from all
// ranks and summed by each. Rounding errors are fed back. Gathering costs n - 1 times the message, an
// allreduce twice: it pays up to eight ranks.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "reference_trainer/comm/bucket.h"

namespace headway::trainer::exchange {
namespace {

constexpr std::int64_t kBlock = 1024;

std::int64_t blocks_of(std::int64_t count) {
  return (count + kBlock - 1) / kBlock;
}

/// Scales first, then the integers.
std::int64_t message_bytes(std::int64_t count) {
  return blocks_of(count) * std::int64_t{sizeof(float)} + count;
}

float load_scale(const std::byte* message, std::int64_t block) {
  float scale = 0;
  std::memcpy(&scale, message + block * std::int64_t{sizeof(float)}, sizeof scale);
  return scale;
}

void quantise(const float* from, std::int64_t count, std::vector<float>& residual,
              std::byte* message) {
  std::byte* integers = message + blocks_of(count) * std::int64_t{sizeof(float)};
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t end = std::min(first + kBlock, count);
    float most = 0;
    for (std::int64_t i = first; i < end; ++i)
      most = std::max(most, std::abs(from[i] + residual[static_cast<std::size_t>(i)]));
    const float scale = most / 127;
    std::memcpy(message + first / kBlock * std::int64_t{sizeof(float)}, &scale, sizeof scale);
    for (std::int64_t i = first; i < end; ++i) {
      float& error = residual[static_cast<std::size_t>(i)];
      const float wanted = from[i] + error;
      const auto integer = static_cast<std::int8_t>(scale > 0 ? std::lround(wanted / scale) : 0);
      integers[i] = static_cast<std::byte>(integer);
      error = wanted - scale * integer;
    }
  }
}

void add_message(const std::byte* message, std::int64_t count, float* to) {
  const std::byte* integers = message + blocks_of(count) * std::int64_t{sizeof(float)};
  for (std::int64_t i = 0; i < count; ++i)
    to[i] +=
        load_scale(message, i / kBlock) * static_cast<float>(static_cast<std::int8_t>(integers[i]));
}

}  // namespace

void add_int8(Bucket& bucket) {
  const std::int64_t count = bucket.count();
  const std::int64_t bytes = message_bytes(count);
  const std::int64_t ranks = bucket.size();
  auto& residual = bucket.buffer(count);
  auto& mine = bucket.byte_buffer(bytes);
  auto& all = bucket.byte_buffer(bytes * ranks);
  bucket.add_pack();
  bucket.add_kernel("compress/int8", {5 * count, 17 * count}, [=, &bucket, &residual, &mine] {
    quantise(bucket.flat(), count, residual, mine.data());
  });
  bucket.add_collective(CollectiveKind::kAllGather, Scope::kWorld, bytes * ranks, "u8",
                        [&mine, &all](CommBackend& backend) { backend.all_gather(mine, all); });
  bucket.add_kernel("decompress/int8", {2 * count * ranks, bytes * ranks + 4 * count},
                    [=, &bucket, &all] {
                      float* to = bucket.flat();
                      std::fill_n(to, count, 0.0F);
                      for (std::int64_t rank = 0; rank < ranks; ++rank)
                        add_message(all.data() + rank * bytes, count, to);
                    });
  bucket.add_unpack(1 / bucket.options().average_over);
}

}  // namespace headway::trainer::exchange
