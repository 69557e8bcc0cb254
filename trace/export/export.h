// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "trace/trace.h"

namespace headway::trace {

struct ExportOptions {
  bool overwrite = false;  ///< false: existing files are an error
};

/// Writes a trace as Chrome trace events with the names that PyTorch's profiler uses
/// (docs/user-guide/export.md): Perfetto and chrome://tracing open it, tools for PyTorch's traces
/// read it. Times are exact to the nanosecond. "-" is standard output; a file whose name ends in
/// .gz is compressed. The file appears, with mode 0600, when it is complete. Throws Error(kUsage)
/// when it exists, Error(kInternal) when it cannot be written.
void export_chrome_json(const Trace& trace, const std::filesystem::path& path,
                        const ExportOptions& options = {});

/// Writes a trace in Perfetto's protobuf format (docs/user-guide/export.md): tracks of threads,
/// streams and counters, flows from calls to the ops that they enqueued. The same rules hold for
/// `path`.
void export_perfetto(const Trace& trace, const std::filesystem::path& path,
                     const ExportOptions& options = {});

/// Writes each table of the trace that has rows as `<folder>/<table>.csv` (RFC 4180, a header line,
/// names instead of StringIds). Makes the folder if it is missing. Throws the same errors.
void export_csv(const Trace& trace, const std::filesystem::path& folder,
                const ExportOptions& options = {});

}  // namespace headway::trace
