// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "kernels/cast/op.h"
#include "kernels/clip_gradients/op.h"
#include "kernels/compress_half/op.h"
#include "kernels/compress_int8/op.h"
#include "kernels/compress_one_bit/op.h"
#include "kernels/compress_top/op.h"
#include "kernels/half.h"
#include "kernels/parallel.h"
#include "tests/kernels/random_array.h"
#include "tests/kernels/thread_counts.h"

namespace headway::kernels {
namespace {

using test::random_floats;

template <class T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

/// (index, value) in the order of the message.
std::vector<std::pair<std::uint32_t, float>> entries_in(const std::vector<std::byte>& message) {
  std::vector<std::pair<std::uint32_t, float>> entries;
  for (std::size_t at = 0; at < message.size(); at += kTopEntryBytes)
    entries.emplace_back(read<std::uint32_t>(&message[at]), read<float>(&message[at + 4]));
  return entries;
}

/// What is left of v, and what was sent.
struct Sent {
  std::vector<float> momentum, waiting;
  std::vector<std::pair<std::uint32_t, float>> entries;
};
Sent send_top(std::vector<float> waiting, std::int64_t entries) {
  const auto count = static_cast<std::int64_t>(waiting.size());
  const std::vector<float> gradient(waiting.size(), 0.0F);
  Sent sent{std::vector<float>(waiting.size(), 0.0F), std::move(waiting), {}};
  std::vector<std::byte> message(size(entries * kTopEntryBytes));
  std::vector<std::byte> scratch(size(compress_top_scratch_bytes(count)));
  run(CompressTop{count, entries, 0.9F, gradient.data(), sent.momentum.data(), sent.waiting.data(),
                  message.data(), scratch.data()});
  sent.entries = entries_in(message);
  return sent;
}

}  // namespace

TEST_CASE("halves with error feedback lose nothing: over the steps all of it is sent") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    constexpr std::int64_t kCount = 40'003;
    std::vector<float> residual(kCount, 0.0F), back(kCount);
    std::vector<std::uint16_t> halves(kCount);
    std::vector<double> wanted(kCount, 0), sent(kCount, 0);
    for (std::uint32_t step = 1; step <= 5; ++step) {
      const std::vector<float> from = random_floats(kCount, step);
      const std::vector<float> before = residual;
      run(CompressHalf{kCount, from.data(), 0.25F, residual.data(), halves.data()});
      run(DecompressHalf{kCount, halves.data(), back.data()});
      for (std::size_t i = 0; i < back.size(); ++i) {
        const float value = from[i] * 0.25F + before[i];
        REQUIRE(back[i] == reference::round_to(NumberFormat::kFloat16, value));
        REQUIRE(back[i] + residual[i] == value);  // exact: what rounding takes away is a float
        wanted[i] += 0.25 * double{from[i]};
        sent[i] += back[i];
      }
    }
    for (std::size_t i = 0; i < back.size(); ++i)
      REQUIRE(sent[i] + residual[i] == doctest::Approx(wanted[i]).epsilon(1e-6).scale(1));
  }
  set_max_threads(1);
}

TEST_CASE("8-bit integers are the nearest multiples of a scale per block, and the rest is kept") {
  for (int threads : test::thread_counts()) {
    for (std::int64_t count : {1L, 5L, 1023L, 1024L, 1025L, 40'003L}) {
      CAPTURE(count);
      set_max_threads(threads);
      const std::vector<float> from = random_floats(count, 1);
      const std::vector<float> before = random_floats(count, 2, 0, 0.01F);
      std::vector<float> residual = before, back(from.size(), NAN);
      std::vector<std::byte> message(size(int8_message_bytes(count)));
      run(CompressInt8{count, from.data(), residual.data(), message.data()});
      const std::int64_t blocks = (count + kInt8Block - 1) / kInt8Block;
      CHECK(int8_message_bytes(count) == 4 * blocks + count);
      for (std::int64_t block = 0; block < blocks; ++block) {
        const float scale = read<float>(message.data() + 4 * block);
        float most = 0;
        const std::int64_t end = std::min(count, (block + 1) * kInt8Block);
        for (std::int64_t i = block * kInt8Block; i < end; ++i) {
          const float wanted = from[size(i)] + before[size(i)];
          most = std::max(most, std::abs(wanted));
          const int integer = read<std::int8_t>(message.data() + 4 * blocks + i);
          // Nearest: no multiple is closer than half a scale, but for the last place of the quotient.
          REQUIRE(std::abs(double{wanted} - double{scale} * integer) <= 0.50001 * double{scale});
          REQUIRE(residual[size(i)] == wanted - scale * static_cast<float>(integer));
        }
        CHECK(scale == most / 127);
      }
      run(DecompressInt8{count, 1, 0, message.data(), back.data()});
      for (std::size_t i = 0; i < back.size(); ++i)
        REQUIRE(double{back[i]} + double{residual[i]} ==
                doctest::Approx(double{from[i]} + double{before[i]}).epsilon(1e-6).scale(1));
    }
  }
  set_max_threads(1);
}

TEST_CASE(
    "halves of a scale round away from zero, and zeros, subnormal and infinite blocks do not break "
    "integers") {
  std::vector<float> from = {127, 0.5F, -0.5F, 1.5F, -2.5F, 0.49999997F, -127, 0};
  std::vector<float> residual(from.size(), 0.0F);
  std::vector<std::byte> message(size(int8_message_bytes(8)));
  auto integers = [&] {
    run(CompressInt8{8, from.data(), residual.data(), message.data()});
    std::vector<int> result;
    for (std::size_t i = 0; i < 8; ++i) result.push_back(read<std::int8_t>(&message[4 + i]));
    return result;
  };
  CHECK(integers() == std::vector<int>{127, 1, -1, 2, -3, 0, -127, 0});
  from.assign(8, 0.0F), residual.assign(8, 0.0F);
  CHECK(integers() == std::vector<int>(8, 0));
  // 190 units of the last place: the scale rounds to one of them.
  from.assign(8, std::numeric_limits<float>::denorm_min() * 190), residual.assign(8, 0.0F);
  CHECK(integers() == std::vector<int>(8, 127));
  CHECK(residual == std::vector<float>(8, std::numeric_limits<float>::denorm_min() * 63));
  from.assign(8, 1.0F), residual.assign(8, 0.0F);
  from[2] = INFINITY, from[3] = NAN;
  CHECK(integers() == std::vector<int>(8, 0));
}

TEST_CASE("messages of 8-bit integers of all ranks add up") {
  constexpr std::int64_t kCount = 3001;
  constexpr int kRanks = 3;
  const std::int64_t stride = (int8_message_bytes(kCount) + 3) / 4 * 4 + 8;
  std::vector<std::byte> messages(size(stride * kRanks));
  std::vector<double> expected(kCount, 0);
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::vector<float> from = random_floats(kCount, static_cast<std::uint32_t>(rank) + 1);
    std::vector<float> residual(kCount, 0.0F);
    run(CompressInt8{kCount, from.data(), residual.data(), messages.data() + rank * stride});
    for (std::size_t i = 0; i < from.size(); ++i)
      expected[i] += double{from[i]} - double{residual[i]};
  }
  std::vector<float> to(kCount, NAN);
  run(DecompressInt8{kCount, kRanks, stride, messages.data(), to.data()});
  for (std::size_t i = 0; i < to.size(); ++i)
    REQUIRE(to[i] == doctest::Approx(expected[i]).epsilon(1e-5).scale(1));
}

TEST_CASE("a bit per value says its sign, and two means per block its size") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    for (std::int64_t count : {1L, 5L, 1023L, 1024L, 1025L, 40'003L})
      for (std::int64_t parts : {1, 3}) {
        CAPTURE(count);
        CAPTURE(parts);
        const std::int64_t part = one_bit_part(count, parts);
        CHECK(part % kOneBitBlock == 0);
        CHECK(part * parts >= count);
        const std::int64_t bytes = one_bit_message_bytes(part);
        CHECK(bytes == part / 8 + part / kOneBitBlock * 8);
        const std::vector<float> from = random_floats(count, 1);
        const std::vector<float> before = random_floats(count, 2, 0, 0.01F);
        std::vector<float> residual = before, back(from.size(), NAN);
        std::vector<std::byte> messages(size(bytes * parts));
        run(CompressOneBit{count, part, from.data(), residual.data(), messages.data()});
        run(DecompressOneBit{count, part, 1, messages.data(), back.data()});
        for (std::int64_t first = 0; first < count; first += kOneBitBlock) {
          const std::int64_t end = std::min(count, first + kOneBitBlock);
          double sums[2] = {0, 0};
          int counts[2] = {0, 0};
          for (std::int64_t i = first; i < end; ++i) {
            const float wanted = from[size(i)] + before[size(i)];
            sums[wanted < 0] += wanted;
            ++counts[wanted < 0];
          }
          for (std::int64_t i = first; i < end; ++i) {
            const float wanted = from[size(i)] + before[size(i)];
            const double mean = sums[wanted < 0] / counts[wanted < 0];
            REQUIRE(back[size(i)] == doctest::Approx(mean).epsilon(1e-5));
            REQUIRE(residual[size(i)] == wanted - back[size(i)]);
          }
        }
      }
  }
  set_max_threads(1);
}

TEST_CASE("messages of signs of all ranks add up, and bad values leave no residual") {
  constexpr std::int64_t kCount = 3001;
  constexpr int kRanks = 3;
  const std::int64_t part = one_bit_part(kCount, 1);
  const std::int64_t bytes = one_bit_message_bytes(part);
  std::vector<std::byte> messages(size(bytes * kRanks));
  std::vector<double> expected(kCount, 0);
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::vector<float> from = random_floats(kCount, static_cast<std::uint32_t>(rank) + 1);
    std::vector<float> residual(kCount, 0.0F);
    run(CompressOneBit{kCount, part, from.data(), residual.data(), messages.data() + rank * bytes});
    for (std::size_t i = 0; i < from.size(); ++i)
      expected[i] += double{from[i]} - double{residual[i]};
  }
  std::vector<float> to(kCount, NAN);
  run(DecompressOneBit{kCount, part, kRanks, messages.data(), to.data()});
  for (std::size_t i = 0; i < to.size(); ++i)
    REQUIRE(to[i] == doctest::Approx(expected[i]).epsilon(1e-5).scale(1));
  std::vector<float> from(kCount, 1.0F), residual(kCount, 0.0F);
  from[5] = INFINITY, from[1030] = NAN;
  run(CompressOneBit{kCount, part, from.data(), residual.data(), messages.data()});
  for (float left : residual) REQUIRE(std::isfinite(left));
}

TEST_CASE("signs with error feedback find a minimum that signs alone miss") {
  // Slopes from 0.001 to 1: alone, a small slope is sent as the mean of all.
  constexpr std::int64_t kCount = 2048;
  auto distance_after = [](bool feedback) {
    const std::vector<float> target = random_floats(kCount, 3);
    std::vector<float> x(kCount, 0.0F), gradient(kCount), residual(kCount, 0.0F), sent(kCount);
    std::vector<std::byte> message(size(one_bit_message_bytes(kCount)));
    for (int step = 0; step < 400; ++step) {
      for (std::size_t i = 0; i < x.size(); ++i)
        gradient[i] = std::pow(10.0F, -3 * static_cast<float>(i % 16) / 15) * (x[i] - target[i]);
      if (!feedback) residual.assign(kCount, 0.0F);
      run(CompressOneBit{kCount, kCount, gradient.data(), residual.data(), message.data()});
      run(DecompressOneBit{kCount, kCount, 1, message.data(), sent.data()});
      for (std::size_t i = 0; i < x.size(); ++i) x[i] -= 0.3F * sent[i];
    }
    double value = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      value += std::pow(10.0, -3.0 * static_cast<double>(i % 16) / 15) *
               std::pow(double{x[i]} - double{target[i]}, 2);
    return value / kCount;
  };
  const double with_feedback = distance_after(true);
  MESSAGE("left with error feedback " << with_feedback << ", without " << distance_after(false));
  CHECK(with_feedback < 0.5 * distance_after(false));
}

TEST_CASE("gradients longer than the limit are scaled to it, shorter ones stay") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    for (std::int64_t count : {1L, 5L, 1025L, 400'003L}) {
      CAPTURE(count);
      const std::vector<float> from = random_floats(count, 1);
      std::vector<double> sums(size(clip_blocks(count)));
      double norm = 0;
      for (float value : from) norm += double{value} * double{value};
      norm = std::sqrt(norm);
      std::vector<float> clipped = from;
      run(ClipGradients{count, static_cast<float>(norm / 4), clipped.data(), sums.data()});
      for (std::size_t i = 0; i < from.size(); ++i)
        REQUIRE(clipped[i] == doctest::Approx(double{from[i]} / 4).epsilon(1e-5));
      std::vector<float> kept = from;
      run(ClipGradients{count, static_cast<float>(norm * 1.01), kept.data(), sums.data()});
      CHECK(kept == from);
    }
  }
  set_max_threads(1);
  std::vector<float> bad = {3, INFINITY, 4};
  double sum = 0;
  run(ClipGradients{3, 1, bad.data(), &sum});
  CHECK(bad == std::vector<float>{3, INFINITY, 4});
}

TEST_CASE("the largest magnitudes are sent, of equals the lower index, by index") {
  for (int threads : test::thread_counts()) {
    set_max_threads(threads);
    for (std::int64_t count : {1L, 2L, 100L, 1024L, 70'001L}) {
      for (std::int64_t entries : {std::int64_t{1}, (count + 2) / 3, count}) {
        CAPTURE(count);
        CAPTURE(entries);
        std::vector<float> waiting = random_floats(count, 1);
        for (float& value : waiting) value = std::round(value * 20) / 20;  // many equals, zeros
        std::vector<std::uint32_t> order(waiting.size());
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
          return std::abs(waiting[a]) > std::abs(waiting[b]);
        });
        order.resize(size(entries));
        std::sort(order.begin(), order.end());
        const Sent sent = send_top(waiting, entries);
        std::size_t at = 0;
        for (std::size_t i = 0; i < waiting.size(); ++i) {
          const bool mine = at < order.size() && order[at] == i;
          if (mine)
            REQUIRE(sent.entries[at++] == std::pair{static_cast<std::uint32_t>(i), waiting[i]});
          REQUIRE(sent.waiting[i] == (mine ? 0 : waiting[i]));
        }
      }
    }
  }
  set_max_threads(1);
}

TEST_CASE("zeros are sent when nothing else is there, and what is no number at once") {
  const Sent zeros = send_top({0, -0.0F, 0, 0}, 2);
  CHECK(zeros.entries[0].first == 0);
  CHECK(zeros.entries[1].first == 1);
  const Sent bad = send_top({1, -INFINITY, 2, NAN, 1e-40F}, 3);
  CHECK(bad.entries[0].first == 1);
  CHECK(bad.entries[1] == std::pair{2U, 2.0F});
  CHECK(std::isnan(bad.entries[2].second));
  CHECK(send_top({0, 1e-44F, 0, 1e-45F}, 1).entries[0].first == 1);
}

TEST_CASE(
    "without momentum, what is sent and what waits is all that came, and where it was sent both "
    "start "
    "anew") {
  constexpr std::int64_t kCount = 5003, kEntries = 60;
  for (float factor : {0.0F, 0.9F}) {
    std::vector<float> u(kCount, 0.0F), v(kCount, 0.0F), back(kCount);
    std::vector<double> came(kCount, 0), sent(kCount, 0);
    std::vector<std::byte> message(size(kEntries * kTopEntryBytes));
    std::vector<std::byte> scratch(size(compress_top_scratch_bytes(kCount)));
    for (std::uint32_t step = 1; step <= 8; ++step) {
      const std::vector<float> gradient = random_floats(kCount, step);
      const std::vector<float> u_before = u, v_before = v;
      run(CompressTop{kCount, kEntries, factor, gradient.data(), u.data(), v.data(), message.data(),
                      scratch.data()});
      run(DecompressTop{kCount, kEntries, 1, message.data(), back.data()});
      std::map<std::uint32_t, float> entries;
      for (const auto& [index, value] : entries_in(message)) entries[index] = value;
      REQUIRE(entries.size() == kEntries);
      for (std::uint32_t i = 0; i < kCount; ++i) {
        const float momentum = factor * u_before[i] + gradient[i];
        const bool mine = entries.contains(i);
        REQUIRE(u[i] == (mine ? 0 : momentum));
        REQUIRE(v[i] == (mine ? 0 : v_before[i] + momentum));
        REQUIRE(back[i] == (mine ? v_before[i] + momentum : 0));
        came[i] += gradient[i];
        sent[i] += back[i];
        if (factor == 0) REQUIRE(sent[i] + v[i] == doctest::Approx(came[i]).epsilon(1e-6).scale(1));
      }
    }
  }
}

TEST_CASE("messages of the largest values add up, whichever ranks name a place") {
  const std::vector<std::pair<std::uint32_t, float>> said = {{1, 1}, {4, 2}, {0, -1}, {4, 5}};
  std::vector<std::byte> messages;
  for (const auto& [index, value] : said) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&index);
    messages.insert(messages.end(), bytes, bytes + 4);
    bytes = reinterpret_cast<const std::byte*>(&value);
    messages.insert(messages.end(), bytes, bytes + 4);
  }
  std::vector<float> to(6, NAN);
  run(DecompressTop{6, 2, 2, messages.data(), to.data()});
  CHECK(to == std::vector<float>{-1, 1, 0, 0, 7, 0});
}

}  // namespace headway::kernels
