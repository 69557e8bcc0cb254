// SPDX-License-Identifier: MIT
#pragma once

#include "gui/models/tables/linked_table.h"
#include "gui/models/tables/scope.h"

namespace headway::gui {

enum class KernelGrouping : std::uint8_t {
  kName,
  kFamily,    ///< what it does, told from its name; with unit and number type
  kLaunches,  ///< names again: how long launches took and waited
};

/// Kernels by name or family: count, time, blocks, what they reach. Copies and sets are not
/// kernels. Rows lead to the longest; keys are names.
LinkedTable make_kernel_table(const trace::Trace& trace, const analyzer::Analysis& analysis,
                              KernelGrouping grouping, Scope scope);

}  // namespace headway::gui
