// SPDX-License-Identifier: MIT
#pragma once

#include "gui/models/tables/linked_table.h"

namespace headway::gui {

enum class CopyDirection : std::uint8_t { kAll, kToDevice };

/// Copies and sets of memory by kind, memory and size (decades): count, bytes, time, rate,
/// over the whole trace. Rows lead to the longest.
LinkedTable make_copy_table(const trace::Trace& trace, const analyzer::Analysis& analysis,
                            CopyDirection direction);

}  // namespace headway::gui
