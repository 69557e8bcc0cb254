// SPDX-License-Identifier: MIT
#pragma once

#include "trace/import/source/importer.h"
#include "trace/import/source/source.h"

namespace headway::trace::import_detail {

/// Loads a profile of jax.profiler or the TensorFlow profiler (XSpace in protobuf's wire format). Reads the bytes that `open`
/// gives; `path` is for messages and Trace::path.
Trace load_xplane(const OpenSource& open, const std::filesystem::path& path,
                  const LoadOptions& options);

}  // namespace headway::trace::import_detail
