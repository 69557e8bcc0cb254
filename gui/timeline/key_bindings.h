// SPDX-License-Identifier: MIT
#pragma once

#include <QKeyEvent>
#include <QKeySequence>
#include <QList>
#include <QString>

#include "gui/models/window/shortcuts.h"

namespace headway::gui {

/// The key sequences of a declaration ("W | +") or of a command.
QList<QKeySequence> sequences(std::string_view keys);
QList<QKeySequence> sequences(Command command);
/// The keys for display: "W or +".
QString keys_text(std::string_view keys);
QString keys_text(Command command);
/// The commands of a key press; empty for other keys.
QList<Command> commands_for(const QKeyEvent& event);

}  // namespace headway::gui
