// SPDX-License-Identifier: MIT
#include "trace/load/context.h"
#include "trace/meta_keys.h"
#include "trace/tables/string_ids.h"

namespace headway::trace::load_detail {
namespace {

constexpr std::int64_t kMaxDenseIds = std::int64_t{1} << 26;
/// By how much time rows of a recording may be out of order: rings are emptied every few
/// milliseconds, and CUPTI hands its buffers over when they are full.
constexpr std::int64_t kLateNs = 250'000'000;
constexpr std::int64_t kLateOfCuptiNs = 3'000'000'000;
/// Number of rows that one probe of the bisection reads.
constexpr int kRowsALook = 64;

}  // namespace

void load_strings(Context& context) {
  context.unknown_string = context.trace.strings.add("?");
  using Table = tables::StringIds;
  sqlite::Select<Table, &Table::Row::id, &Table::Row::value>::run(
      context.db, [&](std::int64_t, const Table::Row& row) {
        StringId id = context.trace.strings.add(row.value);
        if (row.id >= 0 && row.id < kMaxDenseIds) {
          auto index = static_cast<std::size_t>(row.id);
          if (index >= context.string_ids.size())
            context.string_ids.resize(index + 1, StringId::none());
          context.string_ids[index] = id;
        } else {
          context.sparse_string_ids[row.id] = id;
        }
      });
}

std::string Context::in_stretch() const {
  if (!stretch) return {};
  // A range without an end lasts until the recording ends.
  return fmt::format("start < {} AND (\"end\" IS NULL OR \"end\" > {} OR start >= {})",
                     stretch->end.ns, stretch->begin.ns, stretch->begin.ns);
}

std::int64_t Context::first_row(std::string_view table, std::string_view time) const {
  if (!stretch || trace.meta_value(meta::kLive).empty() || !db.has_table(table)) return INT64_MIN;
  std::int64_t low = db.int64(fmt::format("SELECT min(rowid) FROM {}", table));
  std::int64_t high = db.int64(fmt::format("SELECT max(rowid) FROM {}", table)) + 1;
  sqlite::Statement newest = db.prepare(fmt::format(
      "SELECT max({0}) FROM (SELECT * FROM {1} WHERE rowid>=?1 ORDER BY rowid LIMIT {2})", time,
      table, kRowsALook));
  const std::int64_t wanted =
      stretch->begin.ns - (table.starts_with("CUPTI") ? kLateOfCuptiNs : kLateNs);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    newest.reset();
    newest.bind(1, middle);
    if (newest.step() && !newest.is_null(0) && newest.int64(0) >= wanted)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

StringId Context::string(std::int64_t id, LossCounts& part_losses) const {
  if (id >= 0 && static_cast<std::size_t>(id) < string_ids.size() &&
      string_ids[static_cast<std::size_t>(id)].valid()) {
    return string_ids[static_cast<std::size_t>(id)];
  }
  auto found = sparse_string_ids.find(id);
  if (found != sparse_string_ids.end()) return found->second;
  count(part_losses, Loss::kUnknownString);
  return unknown_string;
}

}  // namespace headway::trace::load_detail
