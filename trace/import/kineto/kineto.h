// SPDX-License-Identifier: MIT
#pragma once

#include "trace/import/source/importer.h"
#include "trace/import/source/source.h"

namespace headway::trace::import_detail {

/// Checks the magic bytes only; load_zip_member finds out what is inside.
bool is_zip(const Probe& probe);
/// Whether `path` is the path of a zip archive followed by a member's name.
bool is_zip_member(const std::filesystem::path& path);
/// Loads a member of a zip archive: JSON or XPlane, by its first bytes.
Trace load_zip_member(const std::filesystem::path& path, const LoadOptions& options);

/// Loads the JSON of PyTorch's profiler (Kineto) and other files in Chrome's trace event format: an object with "traceEvents",
/// or only the list of events. Reads the text that `open` gives; `path` is for messages and Trace::path. Throws
/// Error(kBadInput) with the offset in the file where it is not the JSON of a recording.
Trace load_kineto(const OpenSource& open, const std::filesystem::path& path,
                  const LoadOptions& options);

}  // namespace headway::trace::import_detail
