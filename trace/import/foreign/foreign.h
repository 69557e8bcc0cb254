// SPDX-License-Identifier: MIT
#pragma once

#include "trace/import/source/importer.h"

namespace headway::trace::import_detail {

/// Files of other tools that cannot be opened as they are.
bool is_foreign(const Probe& probe);
/// Always throws Error(kBadInput): what the file is, and the command that makes one that opens.
Trace refuse_foreign(const std::filesystem::path& path, const LoadOptions& options);

}  // namespace headway::trace::import_detail
