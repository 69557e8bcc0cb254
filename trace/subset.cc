// SPDX-License-Identifier: MIT
#include "trace/subset.h"

#include <utility>

#include "trace/indexes.h"

namespace headway::trace {
namespace {

/// Old row -> new row; none for rows that are not kept.
template <class RowId>
struct Renumbering {
  std::vector<RowId> to;
  RowId operator()(RowId row) const {
    return row.valid() && row.value < to.size() ? to[row.value] : RowId::none();
  }
};

template <class RowId, class Columns>
Renumbering<RowId> copy_rows(Columns& from, Columns& target,
                             const std::vector<std::uint32_t>& kept) {
  Renumbering<RowId> numbers;
  numbers.to.assign(from.size(), RowId::none());
  for (std::size_t i = 0; i < kept.size(); ++i) numbers.to[kept[i]] = RowId::from(i);
  auto source = from.columns();
  auto columns = target.columns();
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    auto copy = [&](const auto& a, auto& b) {
      if (a.empty()) return;  // a column that no importer filled
      b.reserve(kept.size());
      for (std::uint32_t i : kept) b.push_back(a[i]);
    };
    (copy(std::get<I>(source), std::get<I>(columns)), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(source)>>{});
  return numbers;
}

Strings copy_strings(const Strings& from) {
  Strings copy;  // Strings has views of its own texts, so it is built again, in the same order
  for (std::uint32_t i = 0; i < from.size(); ++i) copy.add(from[StringId{i}]);
  return copy;
}

}  // namespace

Trace take_rows(const Trace& trace, const KeptRows& kept) {
  Trace out;
  out.path = trace.path;
  out.meta = trace.meta;
  out.start_utc_ns = trace.start_utc_ns;
  out.end = trace.end;
  out.complete = trace.complete;
  out.world_size = trace.world_size;
  out.strings = copy_strings(trace.strings);
  out.processes = trace.processes;
  out.threads = trace.threads;
  out.devices = trace.devices;
  out.streams = trace.streams;
  out.domains = trace.domains;
  out.range_info = trace.range_info;
  out.graph_ops = trace.graph_ops;
  out.settings = trace.settings;
  out.losses = trace.losses;
  out.counters = trace.counters;
  Trace& source = const_cast<Trace&>(trace);  // columns() has no const form; only read here
  const auto ranges = copy_rows<RangeId>(source.ranges, out.ranges, kept.ranges);
  const auto calls = copy_rows<CallId>(source.calls, out.calls, kept.calls);
  const auto ops = copy_rows<DeviceOpId>(source.device_ops, out.device_ops, kept.device_ops);
  copy_rows<IoId>(source.io, out.io, kept.io);
  for (RangeId& parent : out.ranges.parent) parent = ranges(parent);
  for (CallId& call : out.device_ops.call) call = calls(call);
  for (DeviceOpId& op : out.calls.op) op = ops(op);
  for (Collective collective : trace.collectives) {
    const bool mine =
        collective.op.valid() ? ops(collective.op).valid() : ranges(collective.range).valid();
    if (!mine) continue;
    collective.op = ops(collective.op);
    collective.range = ranges(collective.range);
    out.collectives.push_back(collective);
  }
  build_indexes(out);
  return out;
}

}  // namespace headway::trace
