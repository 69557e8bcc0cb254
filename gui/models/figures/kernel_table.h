// SPDX-License-Identifier: MIT
#pragma once

#include "gui/models/tables/linked_table.h"
#include "gui/models/tables/scope.h"

namespace headway::gui {

enum class KernelGrouping : std::uint8_t {
  kName,
  kFamily,    ///< by what the kernel computes, with unit and number type
  kLaunches,  ///< by name, with launch durations and queue waits
};

/// One row per name or family: count, time, blocks, achieved rates. Copies and memsets are left
/// out. A row links to its longest kernel; LinkedTable::keys holds the names.
LinkedTable make_kernel_table(const trace::Trace& trace, const analyzer::Analysis& analysis,
                              KernelGrouping grouping, Scope scope);

}  // namespace headway::gui
