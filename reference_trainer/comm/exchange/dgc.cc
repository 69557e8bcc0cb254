// SPDX-License-Identifier: MIT
// Deep gradient compression (Lin et al., 2018): momentum is kept per rank (u = m·u + g) and summed up
// (v = v + u); only the largest values of v are sent, and u and v start anew there. Everything small
// is sent later, when it has grown. The first exchanges send more (25 %, 6.3 %, 1.6 %), because early
// gradients change quickly. All-gathered: the message grows with the number of ranks.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>

#include "reference_trainer/comm/bucket.h"

namespace headway::trainer::exchange {
namespace {

constexpr std::int64_t kEntryBytes = 8;  // u32 index, f32 value

struct State {
  std::vector<float> momentum;  // u
  std::vector<float> waiting;   // v
  std::vector<std::uint32_t> order;
  std::vector<std::byte> mine;
  std::vector<std::byte> all;
  std::int64_t exchanges = 0;
  std::int64_t entries = 0;  ///< of the exchange under way
};

/// Entries that exchange number `exchange` sends.
std::int64_t entries_of(std::int64_t count, const ExchangeOptions& options, std::int64_t exchange) {
  double density = options.density;
  if (exchange < options.warm_up) {
    const double stage =
        std::floor(4.0 * static_cast<double>(exchange) / static_cast<double>(options.warm_up));
    density = std::max(density, 0.25 / std::pow(4.0, stage));
  }
  return std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::ceil(density * static_cast<double>(count))), 1, count);
}

void select(const float* gradient, std::int64_t count, const ExchangeOptions& options, State& s) {
  s.entries = entries_of(count, options, s.exchanges++);
  const auto n = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < n; ++i) {
    s.momentum[i] = options.momentum * s.momentum[i] + gradient[i];
    s.waiting[i] += s.momentum[i];
  }
  std::iota(s.order.begin(), s.order.end(), std::uint32_t{0});
  const auto middle = s.order.begin() + s.entries;
  // Ties go to the lower index, so that runs are alike.
  std::nth_element(s.order.begin(), middle - 1, s.order.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     const float left = std::abs(s.waiting[a]);
                     const float right = std::abs(s.waiting[b]);
                     return left != right ? left > right : a < b;
                   });
  std::sort(s.order.begin(), middle);
  s.mine.resize(static_cast<std::size_t>(s.entries * kEntryBytes));
  std::byte* to = s.mine.data();
  for (auto at = s.order.begin(); at != middle; ++at, to += kEntryBytes) {
    std::memcpy(to, &*at, 4);
    std::memcpy(to + 4, &s.waiting[*at], 4);
    s.waiting[*at] = 0;
    s.momentum[*at] = 0;  // momentum factor masking
  }
}

void add_up(const State& s, float* to, std::int64_t count) {
  std::fill_n(to, count, 0.0F);
  for (std::size_t at = 0; at + kEntryBytes <= s.all.size(); at += kEntryBytes) {
    std::uint32_t index = 0;
    float value = 0;
    std::memcpy(&index, s.all.data() + at, 4);
    std::memcpy(&value, s.all.data() + at + 4, 4);
    to[index] += value;
  }
}

}  // namespace

void add_dgc(Bucket& bucket) {
  const std::int64_t count = bucket.count();
  const std::int64_t ranks = bucket.size();
  const std::int64_t entries = entries_of(count, bucket.options(), bucket.options().warm_up);
  auto state = std::make_shared<State>();
  if (bucket.computes()) {
    state->momentum.resize(static_cast<std::size_t>(count));
    state->waiting.resize(static_cast<std::size_t>(count));
    state->order.resize(static_cast<std::size_t>(count));
  }
  bucket.add_pack();
  // Accumulating reads and writes u and v; selecting by a sampled threshold reads v twice.
  bucket.add_kernel("compress/dgc", {4 * count, 28 * count}, [&bucket, count, state] {
    select(bucket.flat(), count, bucket.options(), *state);
  });
  bucket.add_collective(
      CollectiveKind::kAllGather, Scope::kWorld, entries * kEntryBytes * ranks, "u8",
      [state, ranks](CommBackend& backend) {
        state->all.resize(static_cast<std::size_t>(state->entries * kEntryBytes * ranks));
        backend.all_gather(state->mine, state->all);
      });
  bucket.add_kernel("decompress/dgc", {entries * ranks, 4 * count + entries * ranks * 16},
                    [&bucket, count, state] { add_up(*state, bucket.flat(), count); });
  bucket.add_unpack(1 / bucket.options().average_over);
}

}  // namespace headway::trainer::exchange
