// SPDX-License-Identifier: MIT
// HEADWAY_DEVICE_OP_DETAIL, HEADWAY_CALL_DETAIL and HEADWAY_COLLECTIVE: values that the rows of the
// event tables do not hold.
#include "trace/load/details.h"

#include <algorithm>

#include "trace/load/context.h"
#include "trace/load/foreign_values.h"
#include "trace/tables/call_detail.h"
#include "trace/tables/collective.h"
#include "trace/tables/device_op_detail.h"

namespace headway::trace::load_detail {
namespace {

using OpDetail = tables::DeviceOpDetail;
using CallDetail = tables::CallDetail;
using CollectiveRow = tables::Collective::Row;

RowMap* op_map(Context& context, std::int64_t table) {
  bool known = table >= static_cast<std::int64_t>(RowTable::kKernel) &&
               table <= static_cast<std::int64_t>(RowTable::kOwnOp);
  return known ? &context.row_maps[static_cast<std::size_t>(table)] : nullptr;
}

RowMap& map_of(Context& context, RowTable table) {
  return context.row_maps[static_cast<std::size_t>(table)];
}

std::uint32_t find_op(Context& context, std::int64_t table, std::int64_t row) {
  RowMap* map = op_map(context, table);
  return map ? map->find(row) : RowMap::kNone;
}

void load_op_details(Context& context) {
  DeviceOps& ops = context.trace.device_ops;
  using R = OpDetail::Row;
  sqlite::Select<OpDetail, &R::op_table, &R::op_row, &R::name_id, &R::kind, &R::phase, &R::op,
                 &R::batch, &R::bytes, &R::flops, &R::source_memory, &R::destination_memory,
                 &R::math_unit, &R::blocks, &R::block_threads,
                 &R::unfinished>::run(context.db, [&](std::int64_t, const R& row) {
    std::uint32_t i = find_op(context, row.op_table, row.op_row);
    if (i == RowMap::kNone) return count(context.losses, Loss::kDanglingRow);
    if (row.name_id) ops.name[i] = context.string(row.name_id->value);
    ops.kind[i] = enum_or(row.kind, ops.kind[i]);
    ops.phase[i] = enum_or(row.phase, Phase::kNone);
    ops.op[i] = small_id_of(row.op.value_or(-1));
    ops.batch[i] = small_id_of(row.batch.value_or(-1));
    ops.bytes[i] = bytes_of(row.bytes);
    ops.flops[i] = flops_of(row.flops);
    ops.source_memory[i] = enum_or(row.source_memory, MemoryKind::kUnknown);
    ops.destination_memory[i] = enum_or(row.destination_memory, MemoryKind::kUnknown);
    ops.math_unit[i] = enum_or(row.math_unit, MathUnit::kUnknown);
    ops.blocks[i] = count_of<std::uint32_t>(row.blocks);
    ops.block_threads[i] = count_of<std::uint16_t>(row.block_threads);
    if (row.unfinished) ops.flags[i] |= DeviceOps::kUnfinished;
  });
}

void load_call_details(Context& context) {
  Calls& calls = context.trace.calls;
  const RowMap& map = map_of(context, RowTable::kRuntime);
  using R = CallDetail::Row;
  sqlite::Select<CallDetail, &R::call_row, &R::kind, &R::device_type, &R::stream_pid, &R::device_id,
                 &R::stream_id, &R::sync_id, &R::bytes>::run(context.db, [&](std::int64_t,
                                                                             const R& row) {
    std::uint32_t i = map.find(row.call_row);
    if (i == RowMap::kNone) return count(context.losses, Loss::kDanglingRow);
    calls.kind[i] = enum_or(row.kind, DeviceCallKind::kOther);
    calls.sync_id[i] = static_cast<std::uint64_t>(row.sync_id);
    calls.bytes[i] = bytes_of(row.bytes);
    calls.stream[i] = StreamId::none();
    if (row.device_type) {
      ProcessId process = context.process(row.stream_pid.value_or(0));
      DeviceId device = *row.device_type == 1
                            ? context.cuda_device(process, row.device_id)
                            : context.device(DeviceType::kHost, process, row.device_id);
      calls.stream[i] = context.stream(device, process, row.stream_id);
    }
  });
}

void load_collectives(Context& context) {
  const RowMap& ranges = map_of(context, RowTable::kRange);
  using R = CollectiveRow;
  sqlite::Select<tables::Collective, &R::op_table, &R::op_row, &R::range_row, &R::kind,
                 &R::communicator, &R::dtype, &R::bytes, &R::sequence, &R::ranks,
                 &R::peer>::run(context.db, [&](std::int64_t, const R& row) {
    Collective collective;
    if (row.op_table && row.op_row) {
      std::uint32_t op = find_op(context, *row.op_table, *row.op_row);
      if (op != RowMap::kNone) collective.op = DeviceOpId{op};
    }
    if (row.range_row) {
      std::uint32_t range = ranges.find(*row.range_row);
      if (range != RowMap::kNone) collective.range = RangeId{range};
    }
    if (!collective.op.valid() && !collective.range.valid())
      return count(context.losses, Loss::kDanglingRow);
    collective.kind = context.string(row.kind.value);
    if (row.communicator) collective.communicator = context.string(row.communicator->value);
    if (row.dtype) collective.dtype = context.string(row.dtype->value);
    collective.bytes = row.bytes ? bytes_of(*row.bytes) : conventions::kAbsent;
    collective.sequence = id_of(row.sequence);
    collective.ranks = ranks_of(row.ranks);
    collective.peer = small_id_of(row.peer.value_or(-1));
    context.trace.collectives.push_back(collective);
  });
  // A file of several ranks lists the collectives rank by rank, so they are sorted here.
  const Trace& trace = context.trace;
  auto start = [&](const Collective& c) {
    return c.op.valid() ? trace.device_ops.start[c.op.value] : trace.ranges.start[c.range.value];
  };
  std::stable_sort(context.trace.collectives.begin(), context.trace.collectives.end(),
                   [&](const Collective& a, const Collective& b) { return start(a) < start(b); });
}

}  // namespace

std::uint32_t RowMap::find(std::int64_t row) const {
  auto found = std::lower_bound(rows.begin(), rows.end(), row);
  if (found == rows.end() || *found != row) return kNone;
  return index[static_cast<std::size_t>(found - rows.begin())];
}

void RowTracker::saw(const RowMap& map, std::int64_t row, std::size_t event) {
  if (map.rows.empty()) return;
  if (!begun_) {
    next_ = static_cast<std::size_t>(std::lower_bound(map.rows.begin(), map.rows.end(), row) -
                                     map.rows.begin());
    begun_ = true;
  }
  while (next_ < map.rows.size() && map.rows[next_] < row) ++next_;
  if (next_ < map.rows.size() && map.rows[next_] == row)
    seen_.emplace_back(next_, static_cast<std::uint32_t>(event));
}

void RowTracker::finish(RowMap& map, std::size_t offset) const {
  for (const auto& [position, event] : seen_)
    map.index[position] = event + static_cast<std::uint32_t>(offset);
}

void follow_order(RowMap& map, const std::vector<std::uint32_t>& order) {
  if (map.rows.empty() || order.empty()) return;
  std::vector<std::uint32_t> moved_to(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) moved_to[order[i]] = i;
  for (std::uint32_t& index : map.index) {
    if (index != RowMap::kNone) index = moved_to[index];
  }
}

void want_rows(Context& context) {
  auto want = [&](std::int64_t table, std::int64_t row) {
    if (RowMap* map = op_map(context, table)) map->rows.push_back(row);
  };
  sqlite::Select<OpDetail, &OpDetail::Row::op_table, &OpDetail::Row::op_row>::run(
      context.db, [&](std::int64_t, const OpDetail::Row& row) { want(row.op_table, row.op_row); });
  sqlite::Select<CallDetail, &CallDetail::Row::call_row>::run(
      context.db, [&](std::int64_t, const CallDetail::Row& row) {
        map_of(context, RowTable::kRuntime).rows.push_back(row.call_row);
      });
  sqlite::Select<tables::Collective, &CollectiveRow::op_table, &CollectiveRow::op_row,
                 &CollectiveRow::range_row>::run(context.db, [&](std::int64_t,
                                                                 const CollectiveRow& row) {
    if (row.op_table && row.op_row) want(*row.op_table, *row.op_row);
    if (row.range_row) map_of(context, RowTable::kRange).rows.push_back(*row.range_row);
  });
  if (!context.db.has_table(tables::Collective::name)) {
    context.nccl_payloads = read_nccl_payloads(context);
    for (const auto& [row, payload] : context.nccl_payloads)
      map_of(context, RowTable::kRange).rows.push_back(row);
  }
  for (RowMap& map : context.row_maps) {
    if (!std::is_sorted(map.rows.begin(), map.rows.end()))
      std::sort(map.rows.begin(), map.rows.end());
    map.rows.erase(std::unique(map.rows.begin(), map.rows.end()), map.rows.end());
    map.index.assign(map.rows.size(), RowMap::kNone);
  }
}

void load_details(Context& context) {
  load_op_details(context);
  load_call_details(context);
  load_collectives(context);
}

}  // namespace headway::trace::load_detail
