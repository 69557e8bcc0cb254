// SPDX-License-Identifier: MIT
// HEADWAY_IO -> Trace::io.
#include <algorithm>

#include "trace/load/context.h"
#include "trace/load/foreign_values.h"
#include "trace/tables/io.h"

namespace headway::trace::load_detail {
namespace {

struct Part {
  Io io;
  LocalIds<std::int64_t> threads;  ///< globalTid
  LossCounts losses{};

  void reserve(std::size_t rows) { reserve_columns(io, rows); }
};

void add(const Context& context, Part& part, const tables::Io::Row& row) {
  if (!usable(part.losses, row.start, row.end)) return;
  // A kind of call that this version does not know is left out: it must not count as another kind.
  if (!is_value_of<IoOp>(row.op)) return count(part.losses, Loss::kUnknownEvent);
  std::int64_t length = row.end - row.start;
  Io& io = part.io;
  io.start.push_back({row.start});
  io.end.push_back({row.end});
  io.busy.push_back({std::clamp<std::int64_t>(row.busy.value_or(length), 0, length)});
  io.bytes.push_back(bytes_of(row.bytes));
  io.offset.push_back(std::max<std::int64_t>(row.offset.value_or(-1), -1));
  io.path.push_back(row.path_id ? context.string(row.path_id->value, part.losses)
                                : StringId::none());
  io.name.push_back(context.string(row.name_id.value, part.losses));
  io.thread.push_back(ThreadId{part.threads(row.global_tid)});
  io.calls.push_back(
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(row.calls, 1, UINT32_MAX)));
  io.error.push_back(
      static_cast<std::uint16_t>(std::clamp<std::int64_t>(row.error.value_or(0), 0, UINT16_MAX)));
  io.op.push_back(static_cast<IoOp>(row.op));
}

}  // namespace

void load_io(Context& context) {
  using Row = tables::Io::Row;
  std::vector<Part> parts = sqlite::Select<tables::Io, &Row::start, &Row::end, &Row::global_tid,
                                           &Row::op, &Row::name_id, &Row::path_id, &Row::bytes,
                                           &Row::calls, &Row::busy, &Row::offset, &Row::error>::
      run_parallel<Part>(
          context.db, context.threads,
          [&](Part& part, std::int64_t, const Row& row) { add(context, part, row); },
          context.in_stretch(), context.first_row(tables::Io::name));
  for (Part& part : parts) {
    std::vector<ThreadId> threads;
    for (std::int64_t global_tid : part.threads.keys) threads.push_back(context.thread(global_tid));
    for (ThreadId& thread : part.io.thread) thread = threads[thread.value];
    context.add_losses(part.losses);
    append_columns(context.trace.io, part.io);
    part = {};
  }
  sort_events(context.trace.io, context.threads);
}

}  // namespace headway::trace::load_detail
