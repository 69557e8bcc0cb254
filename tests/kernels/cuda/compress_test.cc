// SPDX-License-Identifier: MIT
// Messages, and what is kept back, are those of the processor's kernels to the bit: ranks may then be of either kind.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/stream_op/launch.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/random_array.h"

namespace headway::test {
namespace {

using namespace kernels;

constexpr NumberFormat kFull = NumberFormat::kFloat32;

void run_on_gpu(const StreamOp& op) {
  gpu().run(kernels::cuda::launches(gpu().limits(), op));
}

/// NaN equals NaN: a GPU makes it with other bits than a processor.
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  const auto same = [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) ||
           (std::isnan(x) && std::isnan(y));
  };
  return std::ranges::equal(a, b, same);
}
std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}
using Bytes = std::vector<std::byte>;

}  // namespace

TEST_CASE("halves with error feedback are those of the processor, over several steps") {
  for (std::size_t offset : {0U, 1U}) {
    for (std::int64_t count : {1L, 8L, 1023L, 20'003L}) {
      CAPTURE(offset);
      CAPTURE(count);
      std::vector<float> residual(size(count), 0.0F), back(size(count));
      std::vector<std::uint16_t> halves(size(count));
      const Array device_residual(kFull, residual, offset), device_back(kFull, count, offset);
      const Plain<std::uint16_t> device_halves(std::vector<std::uint16_t>(size(count) + offset));
      std::uint16_t* const to = device_halves.get() + offset;
      for (std::uint32_t step = 1; step <= 3; ++step) {
        // Up to halves' largest, down to their subnormal ones.
        std::vector<float> from = random_floats(count, step, 0, step == 2 ? 1e-6F : 1.0F);
        if (step == 3) from[0] = 2e5F;
        const Array device_from(kFull, from, offset);
        run_on_gpu(CompressHalf{count, device_from.floats(), 0.3F, device_residual.floats(), to});
        run_on_gpu(DecompressHalf{count, to, device_back.floats()});
        run(CompressHalf{count, from.data(), 0.3F, residual.data(), halves.data()});
        run(DecompressHalf{count, halves.data(), back.data()});
        std::vector<std::uint16_t> got = device_halves.read();
        got.erase(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(offset));
        CHECK(got == halves);
        CHECK(same_bits(device_residual.read(), residual));
        CHECK(same_bits(device_back.read(), back));
      }
    }
  }
}

TEST_CASE("messages of 8-bit integers are those of the processor, and so are their sums") {
  constexpr int kRanks = 3;
  for (std::size_t offset : {0U, 1U}) {
    for (std::int64_t count : {1L, 3L, 1024L, 1027L, 20'003L}) {
      CAPTURE(offset);
      CAPTURE(count);
      const std::int64_t stride = (int8_message_bytes(count) + 3) / 4 * 4 + 4;
      Bytes messages(size(stride * kRanks));
      const Plain<std::byte> device_messages(messages);
      for (int rank = 0; rank < kRanks; ++rank) {
        const auto seed = static_cast<std::uint32_t>(rank) + 1;
        std::vector<float> from = random_floats(count, seed);
        std::vector<float> residual = random_floats(count, seed + 10, 0, 0.01F);
        if (rank == 1) {  // halves of a scale, no numbers, a block of zeros
          for (float& x : from) x = std::round(x * 40);
          from[0] = 127, residual.assign(residual.size(), 0.0F);
          if (count > 2000) from[1100] = NAN, from[1500] = -INFINITY;
          if (count > 5000) std::fill_n(from.begin() + 2048, 1024, 0.0F);
          if (count > 5000) std::fill_n(from.begin() + 3072, 1024, 1e-43F);
          if (count > 8000)
            for (std::size_t i = 4097; i < 5120; ++i)
              from[i] = static_cast<float>(i % 250) - 124.5F;
          if (count > 8000) from[4096] = 127;
        }
        const Array device_from(kFull, from, offset), device_residual(kFull, residual, offset);
        run_on_gpu(CompressInt8{count, device_from.floats(), device_residual.floats(),
                                device_messages.get() + rank * stride});
        run(CompressInt8{count, from.data(), residual.data(), messages.data() + rank * stride});
        CHECK(same_bits(device_residual.read(), residual));
      }
      CHECK(device_messages.read() == messages);
      std::vector<float> sums(size(count));
      const Array device_sums(kFull, count, offset);
      run_on_gpu(
          DecompressInt8{count, kRanks, stride, device_messages.get(), device_sums.floats()});
      run(DecompressInt8{count, kRanks, stride, messages.data(), sums.data()});
      CHECK(same_bits(device_sums.read(), sums));
    }
  }
}

TEST_CASE("messages of signs are those of the processor, and so are their sums") {
  constexpr int kRanks = 3;
  for (std::size_t offset : {0U, 1U}) {
    for (std::int64_t count : {1L, 3L, 33L, 1024L, 1027L, 20'003L}) {
      CAPTURE(offset);
      CAPTURE(count);
      const std::int64_t part = one_bit_part(count, kRanks);
      const std::int64_t bytes = one_bit_message_bytes(part);
      std::vector<float> from = random_floats(count, 1);
      std::vector<float> residual = random_floats(count, 2, 0, 0.1F);
      from[0] = -residual[0];  // zero is positive
      if (count > 5000) std::fill_n(from.begin() + 2048, 1024, 2.5F);
      if (count > 5000) from[4100] = NAN, from[5200] = INFINITY;
      // In parts, as ranks send them.
      Bytes messages(size(bytes * kRanks));
      const Plain<std::byte> device_messages(messages);
      const Array device_from(kFull, from, offset), device_residual(kFull, residual, offset);
      run_on_gpu(CompressOneBit{count, part, device_from.floats(), device_residual.floats(),
                                device_messages.get()});
      run(CompressOneBit{count, part, from.data(), residual.data(), messages.data()});
      CHECK(same_bits(device_residual.read(), residual));
      if (count <= 5000) CHECK(device_messages.read() == messages);
      std::vector<float> back(size(count));
      const Array device_back(kFull, count, offset);
      run_on_gpu(DecompressOneBit{count, part, 1, device_messages.get(), device_back.floats()});
      run(DecompressOneBit{count, part, 1, messages.data(), back.data()});
      CHECK(same_bits(device_back.read(), back));
      // One part, as all ranks sent it.
      const std::int64_t own = std::min(count, part);
      run_on_gpu(DecompressOneBit{own, part, kRanks, device_messages.get(), device_back.floats()});
      run(DecompressOneBit{own, part, kRanks, messages.data(), back.data()});
      CHECK(same_bits(device_back.read(), back));
    }
  }
}

TEST_CASE("gradients are clipped as on the processor") {
  for (std::size_t offset : {0U, 1U})
    for (std::int64_t count : {1L, 1023L, 1025L, 400'003L})
      for (float most : {0.5F, 1e6F}) {
        CAPTURE(offset);
        CAPTURE(count);
        CAPTURE(most);
        std::vector<float> values = random_floats(count, 1);
        std::vector<double> sums(size(clip_blocks(count)));
        const Array device_values(kFull, values, offset);
        const Plain<double> device_sums(sums);
        run_on_gpu(ClipGradients{count, most, device_values.floats(), device_sums.get()});
        run(ClipGradients{count, most, values.data(), sums.data()});
        CHECK(same_bits(device_values.read(), values));
      }
}

namespace {

/// Steps of deep gradient compression on both sides, with the same momentum, message and what waits each time.
void check_top(std::int64_t count, std::int64_t entries, std::size_t offset,
               const std::vector<std::vector<float>>& gradients) {
  CAPTURE(count);
  CAPTURE(entries);
  CAPTURE(offset);
  std::vector<float> momentum(size(count), 0.0F), waiting(size(count), 0.0F);
  Bytes message(size(entries * kTopEntryBytes));
  Bytes scratch(size(compress_top_scratch_bytes(count)), std::byte{0xA5});
  const Array device_momentum(kFull, momentum, offset), device_waiting(kFull, waiting, offset);
  const Plain<std::byte> device_message(message), device_scratch(scratch);
  for (const std::vector<float>& gradient : gradients) {
    const Array device_gradient(kFull, gradient, offset);
    run_on_gpu(CompressTop{count, entries, 0.9F, device_gradient.floats(), device_momentum.floats(),
                           device_waiting.floats(), device_message.get(), device_scratch.get()});
    run(CompressTop{count, entries, 0.9F, gradient.data(), momentum.data(), waiting.data(),
                    message.data(), scratch.data()});
    CHECK(device_message.read() == message);
    CHECK(same_bits(device_momentum.read(), momentum));
    CHECK(same_bits(device_waiting.read(), waiting));
  }
}

}  // namespace

TEST_CASE("the largest values are those of the processor, for any count, step after step") {
  for (std::size_t offset : {0U, 1U})
    for (std::int64_t count : {1L, 5L, 1024L, 1025L, 30'003L})
      for (std::int64_t entries : {std::int64_t{1}, (count + 49) / 50, (count + 1) / 2, count})
        check_top(count, entries, offset,
                  {random_floats(count, 1), random_floats(count, 2), random_floats(count, 3)});
}

TEST_CASE("of many equal magnitudes those with the lowest index are sent") {
  constexpr std::int64_t kCount = 9001;
  std::vector<float> few = random_floats(kCount, 1);
  for (float& x : few) x = std::round(x);
  std::vector<float> one(kCount, -0.75F);
  for (std::size_t i = 0; i < one.size(); i += 3) one[i] = 0.75F;
  const std::vector<float> zeros(kCount, 0.0F);
  std::vector<float> sparse = zeros;
  sparse[8000] = 1e-45F, sparse[17] = -1e-39F;
  std::vector<float> bad = random_floats(kCount, 2);
  bad[5] = INFINITY, bad[4000] = -INFINITY;
  for (std::int64_t entries : {1, 40, 3000, 9000})
    for (const std::vector<float>& each : {few, one, zeros, sparse, bad})
      check_top(kCount, entries, 0, {each, each});
}

TEST_CASE("pieces of several tiles are written in order") {
  // More than TopScratch::kPieces tiles.
  constexpr std::int64_t kCount = TopScratch::kPieces * 1024 + 70'003;
  std::vector<float> gradient = random_floats(kCount, 1);
  for (float& x : gradient) x = std::round(x * 64) / 64;
  check_top(kCount, 12'345, 0, {gradient});
}

TEST_CASE("messages of the largest values add up in the order of ranks, whatever the grid") {
  for (int ranks : {1, 3, 300}) {
    for (std::int64_t count : {1L, 1003L, 9001L}) {
      CAPTURE(ranks);
      CAPTURE(count);
      const std::int64_t entries = std::min<std::int64_t>(count, 57);
      Bytes messages;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto values = random_floats(count, static_cast<std::uint32_t>(rank) + 1);
        std::vector<float> momentum(size(count), 0.0F), waiting(size(count), 0.0F);
        Bytes message(size(entries * kTopEntryBytes));
        run(CompressTop{count, entries, 0, values.data(), momentum.data(), waiting.data(),
                        message.data(), nullptr});
        messages.insert(messages.end(), message.begin(), message.end());
      }
      std::vector<float> sums(size(count));
      run(DecompressTop{count, entries, ranks, messages.data(), sums.data()});
      const Plain<std::byte> device_messages(messages);
      for (int multiprocessors : {0, 132}) {
        const Array device_sums(kFull, count, multiprocessors == 0 ? 1 : 0);
        gpu().run(kernels::cuda::launches(
            {multiprocessors, kernels::cuda::kLargeParameters},
            DecompressTop{count, entries, ranks, device_messages.get(), device_sums.floats()}));
        CHECK(same_bits(device_sums.read(), sums));
      }
    }
  }
}

}  // namespace headway::test
