// SPDX-License-Identifier: MIT
#include "trace/import/extent.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/error.h"
#include "trace/import/source/importer.h"
#include "trace/load/assembly.h"
#include "trace/sqlite/database.h"
#include "trace/tables/device_call.h"
#include "trace/tables/device_op.h"
#include "trace/tables/kernel.h"
#include "trace/tables/memcpy.h"
#include "trace/tables/memset.h"
#include "trace/tables/nvtx_events.h"
#include "trace/tables/runtime.h"

namespace headway::trace {
namespace {

constexpr auto kEventTables = std::to_array<std::string_view>(
    {tables::NvtxEvents::name, tables::Runtime::name, tables::Kernel::name, tables::Memcpy::name,
     tables::Memset::name, tables::DeviceOp::name, tables::DeviceCall::name});

struct TableExtent {
  std::string_view name;
  std::int64_t first = 0;  ///< rowid
  std::int64_t rows = 0;
};

std::vector<TableExtent> tables_of(const sqlite::Database& db) {
  std::vector<TableExtent> tables;
  for (std::string_view name : kEventTables) {
    if (!db.has_table(name)) continue;
    std::int64_t first = db.int64(fmt::format("SELECT min(rowid) FROM {}", name));
    std::int64_t last = db.int64(fmt::format("SELECT max(rowid) FROM {}", name));
    // Row ids of another producer's file may be any numbers; a row takes at least 12 bytes of the
    // file.
    bool sane = first >= 0 && last < std::int64_t{1} << 48;
    std::int64_t most = db.file_bytes() / 12;
    tables.push_back({name, first, sane ? std::min(last - first + 1, most) : most});
  }
  return tables;
}

}  // namespace

Interval Extent::middle(double share) const {
  if (when.empty()) return {};
  auto at = [&](double part) {
    auto index = static_cast<std::int64_t>(part * static_cast<double>(when.size()));
    std::int64_t last = static_cast<std::int64_t>(when.size()) - 1;
    return when[static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, last))];
  };
  return {at(0.5 - share / 2), std::max(at(0.5 + share / 2), at(0.5) + DurationNs{1})};
}

std::optional<Extent> extent_of(const std::filesystem::path& path) {
  constexpr std::int64_t kSamples = 500;
  try {
    if (!import_detail::kSqliteFile.recognises(import_detail::probe(path))) return std::nullopt;
    sqlite::Database db = sqlite::Database::open_read_only(path);
    Extent extent;
    std::vector<TableExtent> tables = tables_of(db);
    for (const TableExtent& table : tables) extent.events += table.rows;
    for (const TableExtent& table : tables) {
      sqlite::Statement at = db.prepare(
          fmt::format("SELECT start FROM {} WHERE rowid >= ?1 ORDER BY rowid LIMIT 1", table.name));
      // Samples of a table in proportion to its share of all events; at least one.
      std::int64_t samples = 1 + table.rows * kSamples / std::max<std::int64_t>(1, extent.events);
      for (std::int64_t i = 0; i < samples; ++i) {
        at.reset();
        at.bind(1, table.first + table.rows * i / samples);
        if (at.step() && !at.is_null(0) && load_detail::possible(at.int64(0)))
          extent.when.push_back({at.int64(0)});
      }
    }
    std::sort(extent.when.begin(), extent.when.end());
    return extent;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace headway::trace
