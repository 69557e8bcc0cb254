// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "gui/models/opening/session.h"
#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// For each row of `to`, the row of `from` that shows the same thing; none for new rows. Both
/// models are of one trace, or of one file at two times.
std::vector<RowId> match_rows(const TimelineModel& from, const TimelineModel& to);

/// The same target in a later session of the same trace, or of the same file after it has grown;
/// none when it cannot be found.
Target find_again(const Session& from, const Target& target, const Session& to);

}  // namespace headway::gui
