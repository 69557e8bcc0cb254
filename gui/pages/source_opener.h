// SPDX-License-Identifier: MIT
#pragma once

#include <QString>

#include "gui/models/details/source_place.h"

namespace headway::gui {

/// Opens a line of the recorded program in the editor of the environment (editor_command), else with the
/// desktop's program for the file. Only existing regular files, and no shell is involved: names come from
/// the trace. Returns a sentence about what was done or why not.
QString open_source(const SourcePlace& place, const trace::Trace& trace);

}  // namespace headway::gui
