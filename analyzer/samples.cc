// SPDX-License-Identifier: MIT
#include "analyzer/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// 0 when `text` is not a number.
double number(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : 0;
}

/// "num_workers=4 batch_size=32" -> "32".
std::string_view value_of(std::string_view settings, std::string_view key) {
  const std::size_t at = settings.find(key);
  if (at == std::string_view::npos) return {};
  settings.remove_prefix(at + key.size());
  return settings.substr(0, settings.find(' '));
}

bool waits_for_batch(const Trace& trace, const RangeNames& names, RangeId range) {
  const RangeInfo* info = trace.info(range);
  return (info && info->kind == RangeKind::kInputWait) || names[range].input_wait;
}

/// Batches that the training thread takes in a step. A wait inside another one is the same wait.
double batches_per_step(const Trace& trace, const RangeNames& names, const Steps& steps) {
  if (steps.steady.empty()) return 0;
  const ThreadId thread = steps.all[steps.steady.front()].thread;
  std::int64_t waits = 0;
  std::int64_t count = 0;
  auto rows = trace.ranges_of_thread[thread];
  for (std::uint32_t index : steps.steady) {
    const Step& step = steps.all[index];
    if (step.thread != thread) continue;
    ++count;
    auto from = std::partition_point(rows.begin(), rows.end(), [&](RangeId id) {
      return trace.ranges.start[id.value] < step.host.begin;
    });
    for (; from != rows.end() && trace.ranges.start[from->value] < step.next; ++from) {
      const RangeId parent = trace.ranges.parent[from->value];
      if (!waits_for_batch(trace, names, *from)) continue;
      if (!parent.valid() || !waits_for_batch(trace, names, parent)) ++waits;
    }
  }
  // The wait that ends an epoch brings no batch.
  return count ? std::round(static_cast<double>(waits) / static_cast<double>(count)) : 0;
}

}  // namespace

std::optional<double> samples_per_step(const Trace& trace, const RangeNames& names,
                                       const Steps& steps, std::int32_t ranks_seen) {
  if (steps.all.empty()) return std::nullopt;
  double ranks = number(trace.setting("ranks"));
  if (ranks < 1) ranks = std::max({1, trace.world_size, ranks_seen});
  // The stages of a pipeline work on the same samples, and so do ranks that share each layer.
  if (const std::string_view pipeline = trace.setting("pipeline");
      (!pipeline.empty() && pipeline != "off") || trace.setting("tensor_parallel") == "on")
    ranks = 1;
  const double batch = number(trace.setting("batch"));
  if (batch > 0) return batch * std::max(1.0, number(trace.setting("accumulate"))) * ranks;
  if (trace.setting("DataLoader").empty() || !trace.setting("DataLoader 2").empty())
    return std::nullopt;
  const double of_loader = number(value_of(trace.setting("DataLoader"), "batch_size="));
  const double batches = batches_per_step(trace, names, steps);
  if (of_loader <= 0 || batches < 1) return std::nullopt;
  return of_loader * batches * ranks;
}

std::string samples_per_s_text(double rate) {
  constexpr double kManyPerSecond = 100;
  return rate >= kManyPerSecond ? fmt::format("{} samples/s", format_count(std::llround(rate)))
                                : fmt::format("{:.3g} samples/s", rate);
}

}  // namespace headway::analyzer
