// SPDX-License-Identifier: MIT
#pragma once

#include <QString>

#include "gui/models/details/source_place.h"

namespace headway::gui {

/// Opens a line of the recorded program in the editor set in the environment (see editor_command),
/// else with the desktop's program for the file. Opens existing regular files only and uses no
/// shell, because names come from the trace. Returns a sentence about the result.
QString open_source(const SourcePlace& place, const trace::Trace& trace);

}  // namespace headway::gui
