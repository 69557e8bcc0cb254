// SPDX-License-Identifier: MIT
#include "gui/models/opening/session_pair.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <unordered_map>

#include "analyzer/partition/steady_ops.h"

namespace headway::gui {
namespace {

using analyzer::DevicePartition;
using analyzer::Table;

std::size_t at(Side side) {
  return static_cast<std::size_t>(side);
}

const DevicePartition* first_partition(const Session& session) {
  return session.analysis.partitions.empty() ? nullptr : &session.analysis.partitions.front();
}

/// The name of a row on a side: B has the row's name; A may have a former one ("was NAME").
std::optional<std::string_view> name_on(Side side, const Table& table,
                                        const std::vector<analyzer::Cell>& row) {
  auto text = [&](std::string_view id) -> std::string_view {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (table.columns[c].id == id) return std::get<std::string>(row[c]);
    }
    return {};
  };
  constexpr std::string_view kWas = "was ";
  std::string_view state = text("state");
  if (state == (side == Side::kA ? "added" : "removed")) return std::nullopt;
  if (side == Side::kA && state.starts_with(kWas)) return state.substr(kWas.size());
  return text("name");
}

std::unordered_map<std::string_view, std::uint32_t> rows_by_name(Side side, const Table* table) {
  std::unordered_map<std::string_view, std::uint32_t> rows;
  for (std::uint32_t r = 0; table && r < table->rows.size(); ++r) {
    if (auto name = name_on(side, *table, table->rows[r])) rows.try_emplace(*name, r);
  }
  return rows;
}

std::uint32_t median_bar(const std::vector<StepBar>& bars) {
  std::vector<std::uint32_t> steady;
  for (std::uint32_t i = 0; i < bars.size(); ++i) {
    if (bars[i].steady) steady.push_back(i);
  }
  if (steady.empty()) return 0;
  auto middle = steady.begin() + static_cast<std::ptrdiff_t>(steady.size() / 2);
  std::nth_element(steady.begin(), middle, steady.end(), [&](std::uint32_t x, std::uint32_t y) {
    return std::pair(bars[x].length(), x) < std::pair(bars[y].length(), y);
  });
  return *middle;
}

}  // namespace

const std::vector<StepBar>& SessionPair::bars(Side side) const {
  static const std::vector<StepBar> none;
  const std::vector<StepChart>& charts = session(side).step_charts;
  return charts.empty() ? none : charts.front().bars;
}

DurationNs SessionPair::total(Side side) const {
  DurationNs sum;
  for (const ClassChange& one : classes) sum += side == Side::kA ? one.a : one.b;
  return sum;
}

std::vector<ClassChange> SessionPair::changed_classes() const {
  const DurationNs least{
      std::max<std::int64_t>(1, std::max(total(Side::kA), total(Side::kB)).ns / 1000)};
  std::vector<ClassChange> changed;
  for (const ClassChange& one : classes)
    if (std::abs(one.change().ns) >= least.ns) changed.push_back(one);
  std::stable_sort(changed.begin(), changed.end(), [](const ClassChange& a, const ClassChange& b) {
    return std::abs(a.change().ns) > std::abs(b.change().ns);
  });
  return changed;
}

std::optional<StepPair> SessionPair::median_steps() const {
  if (!has_steps()) return std::nullopt;
  return StepPair{median_bar(bars(Side::kA)), median_bar(bars(Side::kB))};
}

std::optional<StepPair> SessionPair::steps_numbered(std::int64_t number) const {
  auto find = [&](Side side) -> std::optional<std::uint32_t> {
    const std::vector<StepBar>& all = bars(side);
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const StepBar& bar) { return bar.number == number; });
    if (found == all.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - all.begin());
  };
  auto a = find(Side::kA);
  auto b = find(Side::kB);
  if (!a || !b) return std::nullopt;
  return StepPair{*a, *b};
}

StepPair SessionPair::stepped(StepPair pair, bool forward) const {
  if (forward) {
    bool more = pair.a + 1 < bars(Side::kA).size() && pair.b + 1 < bars(Side::kB).size();
    return more ? StepPair{pair.a + 1, pair.b + 1} : pair;
  }
  return pair.a > 0 && pair.b > 0 ? StepPair{pair.a - 1, pair.b - 1} : pair;
}

Interval SessionPair::interval(Side side, std::optional<StepPair> pair) const {
  if (pair) return bars(side)[side == Side::kA ? pair->a : pair->b].interval;
  const DevicePartition* partition = first_partition(session(side));
  if (partition && !partition->steps.empty()) return partition->steps.front().interval;
  return session(side).timeline.bounds;
}

/// Indexes the row of each op of the model and of each name, and the longest device op of each row.
void SessionPair::index_rows(Side side) {
  const Session& s = session(side);
  Rows& rows = rows_[at(side)];
  const Table* ops = diff.table("ops");
  const Table* kernels = diff.table("kernels");
  auto op_rows = rows_by_name(side, ops);
  auto kernel_rows = rows_by_name(side, kernels);
  auto row_in = [](const auto& index, std::string_view name) {
    auto found = index.find(name);
    return found == index.end() ? kNoRow : found->second;
  };
  for (const analyzer::ModelOp& op : s.analysis.attribution.ops)
    rows.ops.row_of.push_back(row_in(op_rows, op.name));
  for (std::size_t i = 0; i < s.trace.strings.size(); ++i)
    rows.kernels.row_of.push_back(row_in(kernel_rows, s.trace.strings[trace::StringId::from(i)]));
  if (ops) rows.ops.longest_of.resize(ops->rows.size());
  if (kernels) rows.kernels.longest_of.resize(kernels->rows.size());
  const DevicePartition* partition = first_partition(s);
  if (!partition) return;
  auto keep_longest = [&](RowIndex& index, std::uint32_t row, trace::DeviceOpId op) {
    if (row == kNoRow) return;
    trace::DeviceOpId& longest = index.longest_of[row];
    const trace::DeviceOps& all = s.trace.device_ops;
    if (!longest.valid() || all.interval(op).length() > all.interval(longest).length())
      longest = op;
  };
  analyzer::for_each_steady_op(s.trace, s.analysis.steps, *partition,
                               [&](const analyzer::DeviceStep&, trace::DeviceOpId op) {
                                 keep_longest(rows.ops, row_of(side, true, op.value), op);
                                 keep_longest(rows.kernels, row_of(side, false, op.value), op);
                               });
}

std::uint32_t SessionPair::row_of(Side side, bool by_op, std::uint32_t device_op) const {
  const Session& s = session(side);
  const Rows& rows = rows_[at(side)];
  const std::vector<std::uint32_t>& index = by_op ? rows.ops.row_of : rows.kernels.row_of;
  std::uint32_t key = by_op ? s.analysis.attribution.op_of[device_op].value
                            : s.trace.device_ops.name[device_op].value;
  return key < index.size() ? index[key] : kNoRow;
}

/// Visits the device ops of the compared device that start inside `where`, by time.
template <class Visit>
void SessionPair::for_each_op(Side side, Interval where, Visit visit) const {
  const Session& s = session(side);
  const DevicePartition* partition = first_partition(s);
  if (!partition) return;
  const std::vector<TimeNs>& starts = s.trace.device_ops.start;
  auto first = std::lower_bound(starts.begin(), starts.end(), where.begin);
  for (auto i = static_cast<std::uint32_t>(first - starts.begin());
       i < starts.size() && starts[i] < where.end; ++i) {
    trace::StreamId stream = s.trace.device_ops.stream[i];
    if (s.trace.streams[stream.value].device == partition->device) visit(i);
  }
}

Target SessionPair::place_of(Side side, std::string_view table, std::size_t row,
                             std::optional<StepPair> pair) const {
  const bool by_op = table == "ops";
  if (!by_op && table != "kernels") return {};
  const RowIndex& index = by_op ? rows_[at(side)].ops : rows_[at(side)].kernels;
  if (row >= index.longest_of.size()) return {};
  trace::DeviceOpId longest;
  const trace::DeviceOps& ops = session(side).trace.device_ops;
  if (pair) {
    for_each_op(side, interval(side, pair), [&](std::uint32_t op) {
      if (row_of(side, by_op, op) != row) return;
      if (!longest.valid() || ops.interval({op}).length() > ops.interval(longest).length())
        longest = {op};
    });
  }
  if (!longest.valid()) longest = index.longest_of[row];
  return longest.valid() ? Target::of(analyzer::EventRef::of(longest)) : Target{};
}

Target SessionPair::place_of(Side side, analyzer::TimeClass time_class,
                             std::optional<StepPair> pair) const {
  const DevicePartition* partition = first_partition(session(side));
  if (!partition || partition->steps.empty()) return {};
  const analyzer::DeviceStep* step = &partition->steps.front();
  if (pair) {
    std::uint32_t wanted = bars(side)[side == Side::kA ? pair->a : pair->b].step;
    for (const analyzer::DeviceStep& one : partition->steps) {
      if (one.step == wanted) step = &one;
    }
  }
  Target longest;
  DurationNs length;
  for (std::uint32_t i = 0; i < step->segment_count; ++i) {
    const analyzer::Segment& segment = partition->segments[step->first_segment + i];
    if (segment.time_class != time_class || segment.interval.length() <= length) continue;
    longest = Target::segment(0, step->first_segment + i);
    length = segment.interval.length();
  }
  return longest;
}

Target SessionPair::counterpart(Side from, const Target& target,
                                std::optional<StepPair> pair) const {
  if (target.kind == Target::Kind::kSegment) {
    const auto& partitions = session(from).analysis.partitions;
    return place_of(other(from), partitions[target.partition].segments[target.index].time_class,
                    pair);
  }
  if (!pair || target.kind != Target::Kind::kEvent ||
      target.event.kind != analyzer::EventRef::Kind::kDeviceOp)
    return {};
  const std::uint32_t op = target.event.index;
  // Kernels with one name serve many ops of the model: where name and op agree, the work is the
  // same.
  const std::uint32_t kernel = row_of(from, false, op);
  const std::uint32_t model_op = row_of(from, true, op);
  if (kernel == kNoRow && model_op == kNoRow) return {};
  auto alike = [&](Side side, std::uint32_t one) {
    return row_of(side, false, one) == kernel && row_of(side, true, one) == model_op;
  };
  std::int64_t before = 0;
  for_each_op(from, interval(from, pair), [&](std::uint32_t one) {
    if (one < op && alike(from, one)) ++before;
  });
  Target found;
  for_each_op(other(from), interval(other(from), pair), [&](std::uint32_t one) {
    if (alike(other(from), one) && before-- == 0)
      found = Target::of(analyzer::EventRef::of(trace::DeviceOpId{one}));
  });
  return found;
}

std::shared_ptr<const SessionPair> make_session_pair(std::shared_ptr<const Session> a,
                                                     std::shared_ptr<const Session> b) {
  auto pair = std::make_shared<SessionPair>();
  const analyzer::DiffRun run_a{a->trace, a->analysis};
  const analyzer::DiffRun run_b{b->trace, b->analysis};
  pair->diff = analyzer::diff({&run_a, 1}, {&run_b, 1});
  const DevicePartition* in_a = first_partition(*a);
  const DevicePartition* in_b = first_partition(*b);
  for (const analyzer::TimeClassInfo& c : analyzer::time_classes()) {
    ClassChange one{c.time_class, in_a ? in_a->per_steady_step[c.time_class] : DurationNs{},
                    in_b ? in_b->per_steady_step[c.time_class] : DurationNs{}};
    if (one.a.ns || one.b.ns) pair->classes.push_back(one);
  }
  pair->sessions = {std::move(a), std::move(b)};
  for (Side side : {Side::kA, Side::kB}) pair->index_rows(side);
  return pair;
}

}  // namespace headway::gui
