// SPDX-License-Identifier: MIT
#include "gui/models/tables/copy_table.h"

#include <fmt/format.h>

#include <array>

#include "analyzer/stats/labels.h"
#include "analyzer/stats/summary.h"
#include "common/format.h"
#include "gui/models/text/vocabulary.h"

namespace headway::gui {
namespace {

using analyzer::Cell;
using analyzer::ColumnKind;

/// 0: no bytes; k: from 10^(k-1) bytes to below 10^k.
std::uint32_t size_class(std::int64_t bytes) {
  std::uint32_t size = 0;
  for (; bytes > 0; bytes /= 10) ++size;
  return size;
}

std::string size_label(std::uint32_t size) {
  if (size == 0) return "size unknown";
  auto decade = [](std::uint32_t exponent) {
    static constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    static constexpr std::array kTens = {1, 10, 100};
    return fmt::format("{} {}", kTens[exponent % 3], kUnits[exponent / 3]);
  };
  return fmt::format("{} to {}", decade(size - 1), decade(size));
}

std::string known(trace::MemoryKind kind) {
  return kind == trace::MemoryKind::kUnknown ? std::string() : std::string(label_of(kind));
}

}  // namespace

LinkedTable make_copy_table(const trace::Trace& trace, const analyzer::Analysis& analysis,
                            CopyDirection direction) {
  const trace::DeviceOps& ops = trace.device_ops;
  analyzer::KeyGroups keys;
  analyzer::GroupedValues values;
  std::vector<trace::DeviceOpId> longest;
  DurationNs all;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (!analyzer::is_copy_or_set(ops.kind[i])) continue;
    if (direction == CopyDirection::kToDevice &&
        ops.kind[i] != trace::DeviceOpKind::kCopyHostToDevice)
      continue;
    std::uint32_t group = keys.of(static_cast<std::uint64_t>(ops.kind[i]) << 32 |
                                  static_cast<std::uint64_t>(ops.source_memory[i]) << 24 |
                                  static_cast<std::uint64_t>(ops.destination_memory[i]) << 16 |
                                  size_class(ops.bytes[i]));
    DurationNs length = ops.interval({i}).length();
    if (group == longest.size()) longest.push_back({i});
    if (length > ops.interval(longest[group]).length()) longest[group] = {i};
    values.add(group, length.ns, ops.bytes[i]);
    all += length;
  }
  std::vector<analyzer::DurationSummary> sums = values.finish();
  LinkedTable out;
  out.table.id = direction == CopyDirection::kAll ? "copies" : "copies-to-device";
  out.table.title = "Copies and memory sets";
  out.table.note =
      fmt::format("Over the whole trace; copies and sets took {}.", format_duration(all));
  out.table.columns = {
      {"what", "What", ColumnKind::kText},        {"source", "From", ColumnKind::kText},
      {"destination", "To", ColumnKind::kText},   {"size", "Size", ColumnKind::kText},
      {"count", "Count", ColumnKind::kCount},     {"per_step", "Count / step", ColumnKind::kNumber},
      {"bytes", "Bytes", ColumnKind::kBytes},     {"total_ns", "Total", ColumnKind::kDuration},
      {"share", "Share", ColumnKind::kPercent},   {"bytes_per_s", "Rate", ColumnKind::kByteRate},
      {"mean_ns", "Mean", ColumnKind::kDuration}, {"max_ns", "Longest", ColumnKind::kDuration}};
  out.docs = {"Direction of the copy, or a memory set",
              "Kind of memory read; pageable memory is copied twice and blocks the host",
              "Kind of memory written",
              "Size of one copy",
              "Copies of this kind and size",
              "Over all steps of the trace",
              "Total bytes",
              "Total duration",
              "Share of all copies and sets",
              "Bytes per second",
              "Mean duration",
              "The longest one; open the row to see it"};
  double steps = static_cast<double>(analysis.steps.all.size());
  for (std::size_t g = 0; g < sums.size(); ++g) {
    const analyzer::DurationSummary& sum = sums[g];
    std::uint32_t i = longest[g].value;
    out.table.rows.push_back({std::string(label_of(ops.kind[i])), known(ops.source_memory[i]),
                              known(ops.destination_memory[i]),
                              size_label(size_class(ops.bytes[i])), sum.count,
                              steps > 0 ? Cell(static_cast<double>(sum.count) / steps) : Cell(),
                              sum.bytes, sum.total, ratio({sum.total}, all),
                              analyzer::rate_cell(sum.bytes, sum.total), sum.mean(), sum.maximum});
    out.links.push_back(Target::of(analyzer::EventRef::of(longest[g])));
  }
  out.bar_column = out.column("share");
  out.sort_column = out.column("total_ns");
  out.drop_unknown_columns();
  return out;
}

}  // namespace headway::gui
