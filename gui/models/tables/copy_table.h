// SPDX-License-Identifier: MIT
#pragma once

#include "gui/models/tables/linked_table.h"

namespace headway::gui {

enum class CopyDirection : std::uint8_t { kAll, kToDevice };

/// Copies and memsets by kind, memory and size (powers of ten): count, bytes, time, rate, over the
/// whole trace. A row links to the longest one.
LinkedTable make_copy_table(const trace::Trace& trace, const analyzer::Analysis& analysis,
                            CopyDirection direction);

}  // namespace headway::gui
