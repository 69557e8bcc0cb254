// SPDX-License-Identifier: MIT
#pragma once

#include "trace/import/source/importer.h"
#include "trace/import/source/source.h"

namespace headway::trace::import_detail {

/// The JSON of PyTorch's profiler (Kineto) and what else is written in Chrome's trace event format:
/// an object with "traceEvents", or the list of events alone.
bool is_json(const Probe& probe);
/// By the magic bytes alone: what is inside, load_gzip finds out.
bool is_gzip(const Probe& probe);
/// Likewise.
bool is_zip(const Probe& probe);

/// Throws Error(kBadInput) with the place in the file where it is no JSON of a recording. Likewise below.
Trace load_json(const std::filesystem::path& path, const LoadOptions& options);
/// JSON or XPlane inside, by its first bytes.
Trace load_gzip(const std::filesystem::path& path, const LoadOptions& options);
/// Of an archive with one recording. With several: "archive.zip/member.json" opens one.
Trace load_zip(const std::filesystem::path& path, const LoadOptions& options);
/// Path of a zip archive followed by a member's name.
bool is_zip_member(const std::filesystem::path& path);
Trace load_zip_member(const std::filesystem::path& path, const LoadOptions& options);

/// Reads the text that `open` gives; `path` is for messages and Trace::path.
Trace load_kineto(const OpenSource& open, const std::filesystem::path& path,
                  const LoadOptions& options);

}  // namespace headway::trace::import_detail
