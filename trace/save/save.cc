// SPDX-License-Identifier: MIT
#include "trace/save/save.h"

#include "trace/save/context.h"
#include "trace/save/temporary_file.h"

namespace headway::trace {

void save(const Trace& trace, const std::filesystem::path& path, const SaveOptions& options) {
  TemporaryFile file(path, options.overwrite);
  {
    TraceWriter writer(file.path());
    save_detail::Context context(trace, writer);
    save_detail::save_inventory(context, options);
    save_detail::save_ranges(context);
    save_detail::save_calls(context);
    save_detail::save_device_ops(context);
    save_detail::save_collectives(context);
    save_detail::save_overheads(context);
    save_detail::save_io(context);
    save_detail::save_counters(context);
    writer.finish(TraceWriter::Indexes::kBuild, trace.complete ? "complete" : "recording");
  }
  file.commit();
}

}  // namespace headway::trace
