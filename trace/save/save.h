// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "trace/trace.h"

namespace headway::trace {

struct SaveOptions {
  bool overwrite = false;   ///< false: an existing file is an error
  std::string imported_by;  ///< for HEADWAY_META: the saving program and version; may be empty
};

/// Writes a trace from any source as Headway's SQLite file (docs/file-format.md). Loading that file
/// gives an equal trace; its CUPTI and NVTX tables are those of a Nsight Systems export. The file
/// is written beside `path` under a temporary name (mode 0600) and renamed when it is complete and
/// on disk: `path` never holds half a trace. Names are stored as valid UTF-8. Throws Error(kUsage)
/// when `path` exists or is a folder, Error(kInternal) when it cannot be written.
void save(const Trace& trace, const std::filesystem::path& path, const SaveOptions& options = {});

}  // namespace headway::trace
