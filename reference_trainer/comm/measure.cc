// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/measure.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace headway::trainer {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

/// Factor from one size to the next: a line has two unknowns, and nine sizes from 1 KiB to 32 MiB
/// show where it bends.
constexpr std::int64_t kFactor = 4;
constexpr std::int64_t kSmall = 256 << 10;
constexpr int kLeastRepetitions = 7;
/// Repetitions that are not measured, because they touch memory for the first time.
constexpr int kWarmUp = 2;

struct Kind {
  std::string_view name;
  void (CommBackend::*run)(Scope, std::span<float>);
};
constexpr auto kKinds = std::to_array<Kind>({
    {"allreduce", &CommBackend::all_reduce},
    {"reducescatter", &CommBackend::reduce_scatter},
    {"allgather", &CommBackend::all_gather_parts},
});

/// The least value of each column in a table with one row per rank.
std::vector<std::int64_t> least_of_ranks(CommBackend& backend,
                                         const std::vector<std::int64_t>& mine) {
  std::vector<std::int64_t> all(mine.size() * static_cast<std::size_t>(backend.size()));
  std::ranges::copy(mine, all.begin() + static_cast<std::ptrdiff_t>(mine.size()) * backend.rank());
  backend.all_gather(std::as_writable_bytes(std::span(all)));
  std::vector<std::int64_t> least(mine);
  for (std::size_t i = 0; i < all.size(); ++i)
    least[i % mine.size()] = std::min(least[i % mine.size()], all[i]);
  return least;
}

std::vector<std::int64_t> times_of(CommBackend& backend, const Kind& kind, std::span<float> values,
                                   int repetitions) {
  std::vector<std::int64_t> times;
  for (int i = -kWarmUp; i < repetitions; ++i) {
    // Repeated sums would overflow to infinity, and some processors are slower with infinities.
    std::ranges::fill(values, 1.0F);
    backend.barrier();
    const Clock::time_point begin = Clock::now();
    (backend.*kind.run)(Scope::kWorld, values);
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin);
    if (i >= 0) times.push_back(ns.count());
  }
  return least_of_ranks(backend, times);
}

}  // namespace

std::string measure_collectives(CommBackend& backend, const MeasuredSizes& sizes) {
  Json json{{"schema", "headway.collectives"},
            {"version", 1},
            {"backend", backend.name()},
            {"ranks", backend.size()}};
  Json& kinds = json["kinds"] = Json::object();
  std::vector<float> values(static_cast<std::size_t>(sizes.most_bytes) / sizeof(float));
  for (const Kind& kind : kKinds) {
    Json& rows = kinds[std::string(kind.name)] = Json::array();
    std::int64_t last = 0;
    for (std::int64_t bytes = sizes.least_bytes; last < sizes.most_bytes; bytes *= kFactor) {
      last = std::min(bytes, sizes.most_bytes);
      const auto fewer = static_cast<std::int64_t>(sizes.repetitions) * kSmall / last;
      const int repetitions = static_cast<int>(std::clamp<std::int64_t>(
          fewer, std::min(kLeastRepetitions, sizes.repetitions), sizes.repetitions));
      const std::span<float> message(values.data(), static_cast<std::size_t>(last) / sizeof(float));
      rows.push_back({{"bytes", last}, {"ns", times_of(backend, kind, message, repetitions)}});
    }
  }
  return json.dump() + "\n";
}

}  // namespace headway::trainer
