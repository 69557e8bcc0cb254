// SPDX-License-Identifier: MIT
// Trace::device_ops -> CUPTI_ACTIVITY_KIND_{KERNEL,MEMCPY,MEMSET} and HEADWAY_DEVICE_OP_DETAIL for
// CUDA, HEADWAY_DEVICE_OP for other devices; collectives -> HEADWAY_COLLECTIVE; overheads ->
// CUPTI_ACTIVITY_KIND_OVERHEAD.
#include <limits>

#include "trace/load/cupti_enums.h"
#include "trace/save/context.h"
#include "trace/save/short_name.h"
#include "trace/tables/collective.h"
#include "trace/tables/device_op.h"
#include "trace/tables/device_op_detail.h"
#include "trace/tables/kernel.h"
#include "trace/tables/memcpy.h"
#include "trace/tables/memset.h"
#include "trace/tables/overhead.h"

namespace headway::trace::save_detail {
namespace {

std::optional<std::int64_t> if_not(std::int64_t value, std::int64_t absent) {
  if (value == absent) return std::nullopt;
  return value;
}

class OpSaver {
 public:
  explicit OpSaver(Context& context)
      : context_(context), trace_(context.trace), ops_(context.trace.device_ops) {
    short_names_.resize(trace_.strings.size(), StringId::none());
    bool keep_rows = !trace_.collectives.empty();
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      OpTable table = table_of(trace_, i);
      std::int64_t row = save_one(table, i);
      if (keep_rows) context.op_row.push_back(row);
      if (table != OpTable::kOwn && needs_detail(table, i)) save_detail(table, i, row);
    }
  }

 private:
  std::int64_t save_one(OpTable table, std::size_t i) {
    switch (table) {
      case OpTable::kKernel:
        return save_kernel(i);
      case OpTable::kMemcpy:
        return save_copy(i);
      case OpTable::kMemset:
        return save_set(i);
      default:
        return save_own(i);
    }
  }

  std::optional<std::int64_t> correlation(std::size_t i) const {
    if (!ops_.call[i].valid()) return std::nullopt;
    return context_.correlation[ops_.call[i].value];
  }

  /// The columns that the three CUPTI tables have in common.
  template <class Row>
  void fill(Row& row, std::size_t i) const {
    const Stream& stream = trace_.streams[ops_.stream[i].value];
    row.start = ops_.start[i].ns;
    row.end = ops_.end[i].ns;
    row.device_id = trace_.devices[stream.device.value].ordinal;
    row.stream_id = stream.ordinal;
    row.correlation_id = correlation(i);
    row.global_pid = context_.pid(ops_.stream[i]);
  }

  std::int64_t save_kernel(std::size_t i) {
    tables::Kernel::Row row;
    fill(row, i);
    row.demangled_name = context_.string(ops_.name[i]);
    row.short_name = short_name(ops_.name[i]);
    constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
    row.grid_x = static_cast<std::int32_t>(std::min(ops_.blocks[i], kMost));
    row.block_x = ops_.block_threads[i];
    return context_.writer.add<tables::Kernel>(row);
  }

  std::int64_t save_copy(std::size_t i) {
    tables::Memcpy::Row row;
    fill(row, i);
    row.bytes = ops_.bytes[i];
    row.copy_kind = load_detail::cupti_copy_kind(ops_.kind[i]);
    row.src_kind = load_detail::cupti_memory_kind(ops_.source_memory[i]);
    row.dst_kind = load_detail::cupti_memory_kind(ops_.destination_memory[i]);
    return context_.writer.add<tables::Memcpy>(row);
  }

  std::int64_t save_set(std::size_t i) {
    tables::Memset::Row row;
    fill(row, i);
    row.bytes = ops_.bytes[i];
    row.mem_kind = load_detail::cupti_memory_kind(ops_.destination_memory[i]);
    return context_.writer.add<tables::Memset>(row);
  }

  std::int64_t save_own(std::size_t i) {
    const Stream& stream = trace_.streams[ops_.stream[i].value];
    tables::DeviceOp::Row row;
    row.start = ops_.start[i].ns;
    row.end = ops_.end[i].ns;
    row.global_tid = context_.pid(ops_.stream[i]);
    row.device_id = trace_.devices[stream.device.value].ordinal;
    row.stream_id = stream.ordinal;
    row.kind = static_cast<std::int32_t>(ops_.kind[i]);
    row.correlation_id = correlation(i);
    row.name_id = context_.string(ops_.name[i]);
    row.phase = static_cast<std::int32_t>(ops_.phase[i]);
    row.op = if_not(ops_.op[i], -1);
    row.batch = if_not(ops_.batch[i], -1);
    row.bytes = ops_.bytes[i];
    row.flops = ops_.flops[i];
    row.source_memory = static_cast<std::int32_t>(ops_.source_memory[i]);
    row.destination_memory = static_cast<std::int32_t>(ops_.destination_memory[i]);
    row.math_unit = static_cast<std::int32_t>(ops_.math_unit[i]);
    row.blocks = if_not(ops_.blocks[i], 0);
    row.block_threads = if_not(ops_.block_threads[i], 0);
    if (unfinished(i)) row.unfinished = 1;
    return context_.writer.add<tables::DeviceOp>(row);
  }

  bool unfinished(std::size_t i) const { return (ops_.flags[i] & DeviceOps::kUnfinished) != 0; }

  /// False when a reader derives the same values from the CUPTI tables alone.
  bool needs_detail(OpTable table, std::size_t i) const {
    bool kernel = table == OpTable::kKernel;
    bool copy = table == OpTable::kMemcpy;
    bool usual_name =
        kernel || trace_.strings[ops_.name[i]] == load_detail::name_of_kind(ops_.kind[i]);
    bool usual_kind = ops_.kind[i] != DeviceOpKind::kCommunication;
    bool usual_memory = (copy || ops_.source_memory[i] == MemoryKind::kUnknown) &&
                        (!kernel || ops_.destination_memory[i] == MemoryKind::kUnknown);
    constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
    bool usual_size = kernel ? ops_.bytes[i] == 0 && ops_.blocks[i] <= kMost
                             : ops_.blocks[i] == 0 && ops_.block_threads[i] == 0;
    bool silent = ops_.flops[i] == 0 && ops_.op[i] == -1 && ops_.batch[i] == -1 &&
                  ops_.phase[i] == Phase::kNone && ops_.math_unit[i] == MathUnit::kUnknown;
    return !(usual_name && usual_kind && usual_memory && usual_size && silent) || unfinished(i);
  }

  void save_detail(OpTable table, std::size_t i, std::int64_t op_row) {
    tables::DeviceOpDetail::Row row;
    row.op_table = static_cast<std::int64_t>(table);
    row.op_row = op_row;
    if (table != OpTable::kKernel) row.name_id = context_.string(ops_.name[i]);
    row.kind = static_cast<std::int64_t>(ops_.kind[i]);
    row.phase = static_cast<std::int64_t>(ops_.phase[i]);
    row.op = if_not(ops_.op[i], -1);
    row.batch = if_not(ops_.batch[i], -1);
    row.bytes = ops_.bytes[i];
    row.flops = ops_.flops[i];
    row.source_memory = static_cast<std::int64_t>(ops_.source_memory[i]);
    row.destination_memory = static_cast<std::int64_t>(ops_.destination_memory[i]);
    row.math_unit = static_cast<std::int64_t>(ops_.math_unit[i]);
    row.blocks = ops_.blocks[i];
    row.block_threads = ops_.block_threads[i];
    row.unfinished = unfinished(i);
    context_.writer.add<tables::DeviceOpDetail>(row);
  }

  StringId short_name(StringId name) {
    if (name.value >= short_names_.size()) return context_.string(name);
    StringId& known = short_names_[name.value];
    if (!known.valid()) known = context_.writer.intern(short_kernel_name(trace_.strings[name]));
    return known;
  }

  Context& context_;
  const Trace& trace_;
  const DeviceOps& ops_;
  std::vector<StringId> short_names_;
};

}  // namespace

void save_device_ops(Context& context) {
  OpSaver{context};
}

void save_collectives(Context& context) {
  for (const Collective& collective : context.trace.collectives) {
    tables::Collective::Row row;
    if (collective.op.valid()) {
      row.op_table = static_cast<std::int64_t>(table_of(context.trace, collective.op.value));
      row.op_row = context.op_row[collective.op.value];
    }
    if (collective.range.valid()) row.range_row = context.first_range_row + collective.range.value;
    row.kind = context.string(collective.kind);
    row.communicator = context.string_or_null(collective.communicator);
    row.dtype = context.string_or_null(collective.dtype);
    row.bytes = if_not(collective.bytes, conventions::kAbsent);
    row.sequence = if_not(collective.sequence, conventions::kAbsent);
    row.ranks = collective.ranks;
    row.peer = if_not(collective.peer, -1);
    context.writer.add<tables::Collective>(row);
  }
}

void save_overheads(Context& context) {
  for (const Overhead& overhead : context.trace.overheads) {
    tables::Overhead::Row row;
    row.start = overhead.interval.begin.ns;
    row.end = overhead.interval.end.ns;
    row.event_class = 103;  // ENUM_NSYS_EVENT_CLASS: CUPTI overhead
    if (overhead.thread.valid()) row.global_tid = context.thread_key[overhead.thread.value];
    row.name_id = context.string_or_null(overhead.name);
    row.overhead_type = load_detail::cupti_overhead_kind(overhead.kind);
    context.writer.add<tables::Overhead>(row);
  }
}

}  // namespace headway::trace::save_detail
