// SPDX-License-Identifier: MIT
// HEADWAY_DEVICE_OP and the CUPTI tables for kernels, copies and memsets -> Trace::device_ops.
#include <algorithm>
#include <limits>

#include "trace/load/context.h"
#include "trace/load/cupti_enums.h"
#include "trace/load/foreign_values.h"
#include "trace/tables/device_op.h"
#include "trace/tables/graph_trace.h"
#include "trace/tables/kernel.h"
#include "trace/tables/memcpy.h"
#include "trace/tables/memset.h"

namespace headway::trace::load_detail {
namespace {

/// A stream as the file identifies it: globalPid, device, stream.
using StreamKey = std::tuple<std::int64_t, std::int32_t, std::int32_t>;

/// A flag used while loading: an unfinished op whose end is in the file.
constexpr std::uint8_t kCut = 0x80;

struct Part {
  DeviceOps ops;
  LocalIds<StreamKey> streams;
  RowTracker tracker;
  LossCounts losses{};

  void reserve(std::size_t rows_expected) { reserve_columns(ops, rows_expected); }
};

/// One op as read; `add` spreads it over the columns.
struct NewOp {
  std::int64_t start;
  std::int64_t end;
  StreamKey stream;
  std::int64_t correlation;
  StringId name;
  DeviceOpKind kind;
  std::int64_t bytes = 0;
  std::int64_t flops = 0;
  std::int64_t op = -1;
  std::int64_t batch = -1;
  Phase phase = Phase::kNone;
  MathUnit math_unit = MathUnit::kUnknown;
  MemoryKind source = MemoryKind::kUnknown;
  MemoryKind destination = MemoryKind::kUnknown;
  std::uint32_t blocks = 0;
  std::uint16_t block_threads = 0;
  std::uint8_t flags = 0;
};

void add(Part& part, const RowMap& map, std::int64_t row, const NewOp& op) {
  if (!usable(part.losses, op.start, op.end)) return;
  DeviceOps& out = part.ops;
  part.tracker.saw(map, row, out.size());
  out.start.push_back({op.start});
  out.end.push_back({op.end});
  out.name.push_back(op.name);
  out.stream.push_back(StreamId{part.streams(op.stream)});
  // `call` holds the correlation id until link() replaces it by the call: CUDA's ids have 32 bits,
  // Headway's own are small.
  out.call.push_back(CallId{static_cast<std::uint32_t>(op.correlation)});
  out.bytes.push_back(bytes_of(op.bytes));
  out.flops.push_back(flops_of(op.flops));
  out.op.push_back(small_id_of(op.op));
  out.batch.push_back(small_id_of(op.batch));
  out.kind.push_back(op.kind);
  out.phase.push_back(op.phase);
  out.math_unit.push_back(op.math_unit);
  out.source_memory.push_back(op.source);
  out.destination_memory.push_back(op.destination);
  out.blocks.push_back(op.blocks);
  out.block_threads.push_back(op.block_threads);
  out.flags.push_back(op.flags);
}

/// The ids of name_of_kind(), by DeviceOpKind.
std::array<StringId, 9> names_of_kinds(Strings& strings) {
  std::array<StringId, 9> names{};
  for (std::size_t kind = 1; kind < names.size(); ++kind) {
    std::string_view name = name_of_kind(static_cast<DeviceOpKind>(kind));
    if (!name.empty()) names[kind] = strings.add(name);
  }
  return names;
}

template <class Row>
StreamKey stream_of(const Context& context, const Row& row) {
  return {context.pid_or_only(row.global_pid), row.device_id, row.stream_id};
}

/// x * y * z, at most the type's largest value; 0 for extents that no launch can have.
template <class T>
T product(std::int32_t x, std::int32_t y, std::int32_t z) {
  if (x <= 0 || y <= 0 || z <= 0) return 0;
  std::uint64_t most = std::numeric_limits<T>::max();
  std::uint64_t xy = static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y);
  return static_cast<T>(
      xy > most / static_cast<std::uint64_t>(z) ? most : xy * static_cast<std::uint64_t>(z));
}

std::vector<Part> read_kernels(Context& context) {
  const RowMap& map = context.row_map(RowTable::kKernel);
  using Row = tables::Kernel::Row;
  std::vector<std::string> columns = context.db.columns_of(tables::Kernel::name);
  bool demangled = std::find(columns.begin(), columns.end(), "demangledName") != columns.end();
  return sqlite::Select<tables::Kernel, &Row::start, &Row::end, &Row::device_id, &Row::stream_id,
                        &Row::correlation_id, &Row::global_pid, &Row::demangled_name,
                        &Row::short_name, &Row::grid_x, &Row::grid_y, &Row::grid_z, &Row::block_x,
                        &Row::block_y, &Row::block_z>::
      run_parallel<Part>(
          context.db, context.threads,
          [&](Part& part, std::int64_t id, const Row& row) {
            NewOp op{row.start,
                     row.end,
                     stream_of(context, row),
                     row.correlation_id.value_or(0),
                     context.string((demangled ? row.demangled_name : row.short_name).value,
                                    part.losses),
                     DeviceOpKind::kKernel};
            op.blocks = product<std::uint32_t>(row.grid_x, row.grid_y, row.grid_z);
            op.block_threads = product<std::uint16_t>(row.block_x, row.block_y, row.block_z);
            add(part, map, id, op);
          },
          context.in_stretch(), context.first_row(tables::Kernel::name));
}

std::vector<Part> read_copies(Context& context, const std::array<StringId, 9>& names) {
  const RowMap& map = context.row_map(RowTable::kMemcpy);
  using Row = tables::Memcpy::Row;
  return sqlite::Select<tables::Memcpy, &Row::start, &Row::end, &Row::device_id, &Row::stream_id,
                        &Row::correlation_id, &Row::global_pid, &Row::bytes, &Row::copy_kind,
                        &Row::src_kind, &Row::dst_kind>::
      run_parallel<Part>(
          context.db, context.threads,
          [&](Part& part, std::int64_t id, const Row& row) {
            DeviceOpKind kind = copy_kind(row.copy_kind);
            NewOp op{row.start,
                     row.end,
                     stream_of(context, row),
                     row.correlation_id.value_or(0),
                     names[static_cast<std::size_t>(kind)],
                     kind,
                     row.bytes};
            op.source = memory_kind(row.src_kind);
            op.destination = memory_kind(row.dst_kind);
            add(part, map, id, op);
          },
          context.in_stretch(), context.first_row(tables::Memcpy::name));
}

std::vector<Part> read_sets(Context& context, const std::array<StringId, 9>& names) {
  const RowMap& map = context.row_map(RowTable::kMemset);
  using Row = tables::Memset::Row;
  return sqlite::Select<tables::Memset, &Row::start, &Row::end, &Row::device_id, &Row::stream_id,
                        &Row::correlation_id, &Row::global_pid, &Row::bytes, &Row::mem_kind>::
      run_parallel<Part>(
          context.db, context.threads,
          [&](Part& part, std::int64_t id, const Row& row) {
            DeviceOpKind kind = DeviceOpKind::kMemset;
            NewOp op{row.start,
                     row.end,
                     stream_of(context, row),
                     row.correlation_id.value_or(0),
                     names[static_cast<std::size_t>(kind)],
                     kind,
                     row.bytes};
            op.destination = memory_kind(row.mem_kind);
            add(part, map, id, op);
          },
          context.in_stretch(), context.first_row(tables::Memset::name));
}

/// CUDA graphs that were traced as a whole (nsys --cuda-graph-trace=graph, its default): one op per
/// launch. If nodes were traced as well, only these are used, because they say more.
std::vector<Part> read_graphs(Context& context) {
  static const RowMap kNothingWanted;
  // The search for nodes reads every kernel, so it is done only if there are graphs.
  if (!context.db.has_table(tables::GraphTrace::name)) return {};
  std::vector<std::string> columns = context.db.columns_of(tables::Kernel::name);
  if (std::find(columns.begin(), columns.end(), "graphNodeId") != columns.end() &&
      context.db.int64("SELECT EXISTS(SELECT 1 FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE "
                       "graphNodeId > 0)") != 0)
    return {};
  StringId name = context.trace.strings.add("[CUDA graph]");
  using Row = tables::GraphTrace::Row;
  return sqlite::Select<tables::GraphTrace, &Row::start, &Row::end, &Row::device_id,
                        &Row::stream_id, &Row::correlation_id, &Row::global_pid>::
      run_parallel<Part>(
          context.db, context.threads,
          [&](Part& part, std::int64_t id, const Row& row) {
            NewOp op{row.start,
                     row.end,
                     stream_of(context, row),
                     row.correlation_id.value_or(0),
                     name,
                     DeviceOpKind::kKernel};
            add(part, kNothingWanted, id, op);
          },
          context.in_stretch(), context.first_row(tables::GraphTrace::name));
}

std::vector<Part> read_own(Context& context) {
  const RowMap& map = context.row_map(RowTable::kOwnOp);
  using Row = tables::DeviceOp::Row;
  std::int64_t recording_end = context.trace.end.ns;
  return sqlite::Select<tables::DeviceOp, &Row::start, &Row::end, &Row::global_tid, &Row::device_id,
                        &Row::stream_id, &Row::kind, &Row::correlation_id, &Row::name_id,
                        &Row::phase, &Row::op, &Row::batch, &Row::bytes, &Row::flops,
                        &Row::source_memory, &Row::destination_memory, &Row::math_unit,
                        &Row::blocks, &Row::block_threads, &Row::unfinished>::
      run_parallel<Part>(
          context.db, context.threads,
          [&](Part& part, std::int64_t id, const Row& row) {
            NewOp op{row.start,
                     row.end.value_or(std::max(row.start, recording_end)),
                     {global_pid_of(row.global_tid), row.device_id, row.stream_id},
                     row.correlation_id.value_or(0),
                     context.string(row.name_id.value, part.losses),
                     enum_or(row.kind, DeviceOpKind::kKernel),
                     row.bytes,
                     row.flops,
                     row.op.value_or(-1),
                     row.batch.value_or(-1)};
            op.phase = enum_or(row.phase, Phase::kNone);
            op.math_unit = enum_or(row.math_unit, MathUnit::kUnknown);
            op.source = enum_or(row.source_memory, MemoryKind::kUnknown);
            op.destination = enum_or(row.destination_memory, MemoryKind::kUnknown);
            op.blocks = count_of<std::uint32_t>(row.blocks.value_or(0));
            op.block_threads = count_of<std::uint16_t>(row.block_threads.value_or(0));
            if (!row.end) op.flags = DeviceOps::kUnfinished;
            if (row.unfinished.value_or(0) != 0) op.flags = DeviceOps::kUnfinished | kCut;
            add(part, map, id, op);
          },
          context.in_stretch(), context.first_row(tables::DeviceOp::name));
}

void merge(Context& context, DeviceType type, RowTable table, std::vector<Part> parts) {
  for (Part& part : parts) {
    if (table != RowTable::kCount_)
      part.tracker.finish(context.row_map(table), context.trace.device_ops.size());
    std::vector<StreamId> streams;
    for (const auto& [global_pid, device, stream] : part.streams.keys) {
      ProcessId process = context.process(global_pid);
      DeviceId id = type == DeviceType::kCuda ? context.cuda_device(process, device)
                                              : context.device(type, process, device);
      streams.push_back(context.stream(id, process, stream));
    }
    for (StreamId& stream : part.ops.stream) stream = streams[stream.value];
    context.add_losses(part.losses);
    append_columns(context.trace.device_ops, part.ops);
    part = {};
  }
}

/// Lets an op that never finished last until the end of its process.
void close_unfinished(Trace& trace) {
  DeviceOps& ops = trace.device_ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (!(ops.flags[i] & DeviceOps::kUnfinished)) continue;
    if (ops.flags[i] & kCut) {
      ops.flags[i] = DeviceOps::kUnfinished;
      continue;
    }
    const std::optional<TimeNs>& end =
        trace.processes[trace.streams[ops.stream[i].value].process.value].end;
    if (end && *end >= ops.start[i]) ops.end[i] = *end;
  }
}

}  // namespace

void load_device_ops(Context& context) {
  std::array<StringId, 9> names = names_of_kinds(context.trace.strings);
  merge(context, DeviceType::kCuda, RowTable::kKernel, read_kernels(context));
  merge(context, DeviceType::kCuda, RowTable::kMemcpy, read_copies(context, names));
  merge(context, DeviceType::kCuda, RowTable::kMemset, read_sets(context, names));
  merge(context, DeviceType::kCuda, RowTable::kCount_, read_graphs(context));
  merge(context, DeviceType::kHost, RowTable::kOwnOp, read_own(context));
  close_unfinished(context.trace);
}

void sort_device_ops(Context& context) {
  std::vector<std::uint32_t> order = sort_device_ops(context.trace, context.threads);
  for (RowTable table : {RowTable::kKernel, RowTable::kMemcpy, RowTable::kMemset, RowTable::kOwnOp})
    follow_order(context.row_map(table), order);
}

}  // namespace headway::trace::load_detail
