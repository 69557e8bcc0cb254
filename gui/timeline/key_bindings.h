// SPDX-License-Identifier: MIT
#pragma once

#include <QKeyEvent>
#include <QKeySequence>
#include <QList>
#include <QString>

#include "gui/models/window/shortcuts.h"

namespace headway::gui {

/// The key sequences of a declaration ("W | +"), or of a command.
QList<QKeySequence> sequences(std::string_view keys);
QList<QKeySequence> sequences(Command command);
/// The keys as people read them: "W or +".
QString keys_text(std::string_view keys);
QString keys_text(Command command);
/// The commands that a key press means; none for other keys.
QList<Command> commands_for(const QKeyEvent& event);

}  // namespace headway::gui
