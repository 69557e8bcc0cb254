// SPDX-License-Identifier: MIT
#pragma once

#include "trace/import/source/importer.h"

namespace headway::trace::import_detail {

bool is_sqlite(const Probe& probe);
/// Headway's own file or an SQLite export of Nsight Systems: both have the same tables.
Trace load_sqlite(const std::filesystem::path& path, const LoadOptions& options);

}  // namespace headway::trace::import_detail
