// SPDX-License-Identifier: MIT
// Tables over the dependency graph: what the critical path consists of, and which ops have room.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/stats/tables.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

struct Sum {
  DurationNs time;
  DurationNs inferred;
  std::int64_t pieces = 0;

  void add(const PathPiece& piece) {
    time += piece.interval.length();
    if (piece.inferred) inferred += piece.interval.length();
    ++pieces;
  }
};

std::int64_t per_step(const CriticalPath& path, DurationNs time) {
  return time.ns / std::max<std::int64_t>(1, path.steps);
}

std::string path_note(const CriticalPath& path) {
  std::string over = path.steps ? fmt::format("over {} steady steps", path.steps)
                                : std::string("over the whole span, no steps");
  return fmt::format("{}: {}; {} inferred from the schedule", over,
                     format_duration(path.window.length()),
                     format_percent(ratio(path.inferred, path.window.length())));
}

/// What a piece is about, by name: of an op, a call or a range.
std::string piece_name(const trace::Trace& trace, const PathPiece& piece) {
  if (piece.event.kind != EventRef::Kind::kNone) return std::string(name_of(trace, piece.event));
  return piece.thread.valid() ? "(no range, no call)" : "(nothing recorded)";
}

}  // namespace

Table critical_path_table(const trace::Trace& trace, const Analysis& analysis) {
  const CriticalPath& path = analysis.critical_path;
  Table table{"critical-path", "Critical path", path_note(path), {}, {}};
  table.columns = {{"kind", "Kind", ColumnKind::kText},
                   {"name", "What", ColumnKind::kText},
                   {"ns_per_step", path.steps ? "Per step" : "Time", ColumnKind::kDuration},
                   {"share", "Share of path", ColumnKind::kPercent},
                   {"pieces", "Pieces", ColumnKind::kCount},
                   {"inferred_share", "Inferred", ColumnKind::kPercent}};
  // Distinct names are few; pieces are keyed by their ids first.
  std::map<std::pair<PathKind, std::string>, Sum> by_name;
  std::map<std::tuple<PathKind, EventRef::Kind, std::uint32_t>, Sum> by_id;
  for (const PathPiece& piece : path.pieces) {
    std::uint32_t name = 0;
    switch (piece.event.kind) {
      case EventRef::Kind::kDeviceOp:
        name = trace.device_ops.name[piece.event.index].value;
        break;
      case EventRef::Kind::kCall:
        name = trace.calls.name[piece.event.index].value;
        break;
      case EventRef::Kind::kRange:
        name = trace.ranges.name[piece.event.index].value;
        break;
      case EventRef::Kind::kNone:
        by_name[{piece.kind, piece_name(trace, piece)}].add(piece);
        continue;
    }
    by_id[{piece.kind, piece.event.kind, name}].add(piece);
  }
  for (const auto& [key, sum] : by_id) {
    Sum& total =
        by_name[{std::get<0>(key), std::string(trace.strings[trace::StringId{std::get<2>(key)}])}];
    total.time += sum.time;
    total.inferred += sum.inferred;
    total.pieces += sum.pieces;
  }
  for (const auto& [key, sum] : by_name) {
    table.rows.push_back({std::string(info(key.first).id), key.second, per_step(path, sum.time),
                          ratio(sum.time, path.window.length()), sum.pieces,
                          ratio(sum.inferred, sum.time)});
  }
  sort_by(table, 2);
  return table;
}

Table path_kind_table(const trace::Trace&, const Analysis& analysis) {
  const CriticalPath& path = analysis.critical_path;
  Table table{"path-kinds", "Critical path by kind", path_note(path), {}, {}};
  table.columns = {{"kind", "Kind", ColumnKind::kText},
                   {"label", "What", ColumnKind::kText},
                   {"ns_per_step", path.steps ? "Per step" : "Time", ColumnKind::kDuration},
                   {"share", "Share of path", ColumnKind::kPercent}};
  for (const PathKindInfo& kind : path_kinds()) {
    DurationNs time = path[kind.kind];
    if (time.ns == 0) continue;
    table.rows.push_back({std::string(kind.id), std::string(kind.label), per_step(path, time),
                          ratio(time, path.window.length())});
  }
  return table;
}

Table slack_table(const trace::Trace& trace, const Analysis& analysis) {
  const CriticalPath& path = analysis.critical_path;
  Table table{"slack",
              "Ops on the critical path, and slack of the others",
              "slack: how much later an op could have ended at no cost; " + path_note(path),
              {},
              {}};
  table.columns = {{"op", "Op", ColumnKind::kText},
                   {"path_ns_per_step", "On the path", ColumnKind::kDuration},
                   {"device_ns_per_step", "On the device", ColumnKind::kDuration},
                   {"min_slack_ns", "Least slack", ColumnKind::kDuration},
                   {"median_slack_ns", "Median slack", ColumnKind::kDuration},
                   {"instances", "Device ops", ColumnKind::kCount}};
  struct OpRow {
    DurationNs on_path;
    DurationNs on_device;
    std::vector<std::uint32_t> slack;
  };
  // Ops of the model by id; device ops that belong to none of them by kernel name.
  std::size_t model_ops = analysis.attribution.ops.size();
  std::vector<OpRow> rows(model_ops + trace.strings.size());
  auto row_of = [&](std::uint32_t op) -> OpRow& {
    std::uint32_t id = analysis.attribution.op_of[op].value;
    return rows[id == 0 ? model_ops + trace.device_ops.name[op].value : id];
  };
  for (std::uint32_t op = 0; op < path.slack_ns.size(); ++op) {
    if (path.slack_ns[op] == CriticalPath::kNoSlack) continue;
    OpRow& row = row_of(op);
    row.on_device += trace.device_ops.end[op] - trace.device_ops.start[op];
    row.slack.push_back(path.slack_ns[op]);
  }
  for (const PathPiece& piece : path.pieces) {
    bool work = piece.kind == PathKind::kCompute || piece.kind == PathKind::kCommunication ||
                piece.kind == PathKind::kCopy;
    if (work && piece.event.kind == EventRef::Kind::kDeviceOp)
      row_of(piece.event.index).on_path += piece.interval.length();
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    OpRow& row = rows[i];
    if (row.slack.empty()) continue;
    std::sort(row.slack.begin(), row.slack.end());
    std::string name = i < model_ops
                           ? analysis.attribution.ops[i].name
                           : std::string(trace.strings[trace::StringId::from(i - model_ops)]);
    table.rows.push_back({std::move(name), per_step(path, row.on_path),
                          per_step(path, row.on_device),
                          static_cast<std::int64_t>(row.slack.front()),
                          static_cast<std::int64_t>(row.slack[row.slack.size() / 2]),
                          static_cast<std::int64_t>(row.slack.size())});
  }
  sort_by(table, 1);
  return table;
}

}  // namespace headway::analyzer
