// SPDX-License-Identifier: MIT
// Headway's own files, and SQLite exports of Nsight Systems.
#include <charconv>

#include "common/error.h"
#include "trace/import/source/importer.h"
#include "trace/load/context.h"
#include "trace/meta_keys.h"

namespace headway::trace::import_detail {
namespace {

std::int64_t number_or(std::string_view text, std::int64_t fallback) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : fallback;
}

/// Checks that the file is Headway's own or an Nsight Systems export; else throws.
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
          "{}: schema version {}, but this headway reads up to {}. It was written by a newer "
          "Headway: update this one, or record again with it.",
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

/// Time of the newest sample. A recording in progress has no index on time, so its last rows are
/// read.
std::int64_t newest_sample(const sqlite::Database& db, bool complete) {
  if (!db.has_table("HEADWAY_COUNTER")) return 0;
  return db.int64(complete ? "SELECT max(timestamp) FROM HEADWAY_COUNTER"
                           : "SELECT max(timestamp) FROM (SELECT timestamp FROM HEADWAY_COUNTER "
                             "ORDER BY rowid DESC LIMIT 1000)");
}

bool is_sqlite(const Probe& probe) {
  return probe.begins_with("SQLite format 3");
}

Trace load_sqlite(const std::filesystem::path& path, const LoadOptions& options) {
  auto report = [&](double share) {
    if (options.progress) options.progress(share);
  };
  sqlite::Database db = sqlite::Database::open_read_only(path);
  check_format(db);
  Trace trace;
  trace.path = path.string();
  load_detail::Context context(path, load_detail::thread_count(options.threads), trace, db);
  context.stretch = options.stretch;
  load_detail::load_strings(context);
  load_detail::load_inventory(context);
  trace.end = {std::max<std::int64_t>(0, number_or(trace.meta_value(meta::kDurationNs), 0))};
  if (trace.end.ns == 0) trace.end = {newest_sample(db, trace.complete)};
  if (!load_detail::possible(trace.end.ns)) trace.end = {0};
  if (options.stretch) trace.end = std::min(trace.end, options.stretch->end);
  load_detail::want_rows(context);
  report(0.1);
  load_detail::load_ranges(context);
  report(0.35);
  load_detail::load_calls(context);
  report(0.55);
  load_detail::load_device_ops(context);
  report(0.8);
  constexpr void (*kSorts[])(load_detail::Context&) = {
      load_detail::sort_ranges, load_detail::sort_calls, load_detail::sort_device_ops};
  run_parallel(
      std::size(kSorts), [&](std::size_t i) { kSorts[i](context); }, context.threads);
  report(0.85);
  load_detail::load_counters(context);
  load_detail::load_memory(context);
  load_detail::load_io(context);
  load_detail::load_synchronization(context);
  load_detail::load_overheads(context);
  load_detail::link(context);
  load_detail::load_details(context);
  load_detail::load_nccl(context);
  report(1);
  return trace;
}

}  // namespace

extern const Importer kSqliteFile = {
    "Headway's own SQLite file, an SQLite export of Nsight Systems", is_sqlite, load_sqlite, true};

}  // namespace headway::trace::import_detail
