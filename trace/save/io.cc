// SPDX-License-Identifier: MIT
// Trace::io -> HEADWAY_IO.
#include "trace/tables/io.h"
#include "trace/save/context.h"

namespace headway::trace::save_detail {

void save_io(Context& context) {
  const Io& io = context.trace.io;
  for (std::size_t i = 0; i < io.size(); ++i) {
    tables::Io::Row row;
    row.start = io.start[i].ns;
    row.end = io.end[i].ns;
    row.global_tid = context.thread_key[io.thread[i].value];
    row.op = static_cast<std::int32_t>(io.op[i]);
    row.name_id = context.string(io.name[i]);
    row.path_id = context.string_or_null(io.path[i]);
    row.bytes = io.bytes[i];
    row.calls = io.calls[i];
    if (io.busy[i] != io.end[i] - io.start[i]) row.busy = io.busy[i].ns;
    if (io.offset[i] >= 0) row.offset = io.offset[i];
    if (io.error[i] != 0) row.error = io.error[i];
    context.writer.add<tables::Io>(row);
  }
}

}  // namespace headway::trace::save_detail
