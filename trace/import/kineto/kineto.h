// SPDX-License-Identifier: MIT
#pragma once

#include "trace/import/source/importer.h"
#include "trace/import/source/source.h"

namespace headway::trace::import_detail {

/// By the magic bytes alone: what is inside, load_zip_member finds out.
bool is_zip(const Probe& probe);
/// Path of a zip archive followed by a member's name.
bool is_zip_member(const std::filesystem::path& path);
/// JSON or XPlane inside, by its first bytes.
Trace load_zip_member(const std::filesystem::path& path, const LoadOptions& options);

/// The JSON of PyTorch's profiler (Kineto) and what else is written in Chrome's trace event format: an object with "traceEvents",
/// or the list of events alone. Reads the text that `open` gives; `path` is for messages and Trace::path. Throws Error(kBadInput)
/// with the place in the file where it is no JSON of a recording.
Trace load_kineto(const OpenSource& open, const std::filesystem::path& path,
                  const LoadOptions& options);

}  // namespace headway::trace::import_detail
