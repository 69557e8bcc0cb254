// SPDX-License-Identifier: MIT
#include "trace/load/load.h"

#include <sqlite3.h>

#include <atomic>
#include <charconv>
#include <numeric>

#include "common/error.h"
#include "trace/load/context.h"
#include "trace/meta_keys.h"

namespace headway::trace {
namespace {

std::int64_t number_or(std::string_view text, std::int64_t fallback) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : fallback;
}

/// Ours, an Nsight Systems export, or an error.
void check_format(const sqlite::Database& db) {
  std::string name = db.path().string();
  if (db.has_table("HEADWAY_META")) {
    sqlite::Statement statement = db.prepare("SELECT value FROM HEADWAY_META WHERE name=?1");
    statement.bind(1, meta::kSchemaVersionKey);
    std::string text = statement.step() ? std::string(statement.text(0)) : "";
    std::int64_t version = number_or(text, -1);
    if (version < 1)
      fail_input("{}: HEADWAY_META.schema_version is '{}'; expected a number from 1 to {}.", name,
                 text, kSchemaVersion);
    if (version > kSchemaVersion) {
      fail_input(
          "{}: has schema version {}, this headway reads up to {}. It was written by a newer "
          "Headway: update this one, "
          "or record again with it.",
          name, version, kSchemaVersion);
    }
    return;
  }
  if (db.has_table("StringIds")) return;
  fail_input(
      "{}: is an SQLite file but not a trace: it has neither HEADWAY_META (Headway) nor StringIds "
      "(Nsight Systems export).",
      name);
}

}  // namespace

namespace load_detail {

bool usable(LossCounts& losses, std::int64_t start, std::int64_t end) {
  // Ten years: far beyond any run, far inside the range where sums of nanoseconds cannot overflow.
  constexpr std::int64_t kLimit = std::int64_t{10} * 365 * 24 * 3600 * 1'000'000'000;
  if (start < -kLimit || start > kLimit || end < -kLimit || end > kLimit) {
    count(losses, Loss::kTimeOutOfRange);
    return false;
  }
  if (end < start) {
    count(losses, Loss::kNegativeDuration);
    return false;
  }
  return true;
}

std::vector<std::uint32_t> event_order(const std::vector<TimeNs>& start,
                                       const std::vector<TimeNs>& end) {
  auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (start[a] != start[b]) return start[a] < start[b];
    if (end[a] != end[b]) return end[a] > end[b];
    return a < b;
  };
  bool sorted = true;
  for (std::uint32_t i = 1; i < start.size() && sorted; ++i) sorted = before(i - 1, i);
  if (sorted) return {};
  std::vector<std::uint32_t> order(start.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), before);
  return order;
}

void run_tasks(const std::vector<std::function<void()>>& tasks, int threads) {
  std::atomic<std::size_t> next = 0;
  auto work = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < tasks.size();) tasks[i]();
  };
  std::vector<std::thread> helpers;
  for (int i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace load_detail

Trace load(const std::filesystem::path& path, const LoadOptions& options) {
  auto report = [&](double share) {
    if (options.progress) options.progress(share);
  };
  sqlite::Database db = sqlite::Database::open_read_only(path);
  check_format(db);
  Trace trace;
  trace.path = path.string();
  int hardware = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  load_detail::Context context(path, options.threads > 0 ? options.threads : std::min(hardware, 8),
                               trace, db);
  load_detail::load_strings(context);
  load_detail::load_inventory(context);
  trace.end = {std::max<std::int64_t>(0, number_or(trace.meta_value(meta::kDurationNs), 0))};
  if (trace.end.ns == 0)
    trace.end = {db.has_table("HEADWAY_COUNTER")
                     ? db.int64("SELECT max(timestamp) FROM HEADWAY_COUNTER")
                     : 0};
  report(0.1);
  load_detail::load_ranges(context);
  report(0.35);
  load_detail::load_calls(context);
  report(0.6);
  load_detail::load_device_ops(context);
  report(0.85);
  load_detail::load_counters(context);
  load_detail::link(context);
  report(1);
  return trace;
}

}  // namespace headway::trace
