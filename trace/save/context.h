// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "trace/save/save.h"
#include "trace/save/writer.h"
#include "trace/trace.h"

/// State that the files of trace/save/ share. Each file writes one part of the Trace.
namespace headway::trace::save_detail {

/// Values of opTable in HEADWAY_COLLECTIVE and HEADWAY_DEVICE_OP_DETAIL.
enum class OpTable : std::uint8_t { kNone = 0, kKernel = 1, kMemcpy = 2, kMemset = 3, kOwn = 4 };
/// The table to which an op is written.
OpTable table_of(const Trace& trace, std::size_t op);

struct Context {
  Context(const Trace& source, TraceWriter& target);

  const Trace& trace;
  TraceWriter& writer;
  /// globalPid and globalTid in the file: the trace's own if they are unique and packed as pid <<
  /// 24 | tid, else made-up ones. The real pid and tid are stored beside them.
  std::vector<std::int64_t> process_key;
  std::vector<std::int64_t> thread_key;
  std::vector<std::int64_t> correlation;  ///< by call, see number_correlations()
  std::int64_t first_range_row = 0;       ///< rowid of range 0 in NVTX_EVENTS
  std::vector<std::int64_t> op_row;       ///< rowid of each op in its table; empty when not needed

  StringId string(StringId id);
  std::optional<StringId> string_or_null(StringId id);
  std::int64_t pid(StreamId stream) const;
  bool is_cuda(StreamId stream) const;

 private:
  std::vector<StringId> string_ids_;
};

void save_inventory(Context& context, const SaveOptions& options);
void save_ranges(Context& context);
void save_calls(Context& context);
void save_device_ops(Context& context);
void save_collectives(Context& context);  ///< after ranges and ops
void save_overheads(Context& context);
void save_io(Context& context);
void save_counters(Context& context);

}  // namespace headway::trace::save_detail
