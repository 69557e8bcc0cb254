// SPDX-License-Identifier: MIT
#include "gui/timeline/key_bindings.h"

#include <QStringList>

namespace headway::gui {

QList<QKeySequence> sequences(std::string_view keys) {
  QList<QKeySequence> result;
  for (const QString& key : QString::fromUtf8(keys.data(), static_cast<qsizetype>(keys.size()))
                                .split(QStringLiteral(" | ")))
    result << QKeySequence(key, QKeySequence::PortableText);
  return result;
}

QList<QKeySequence> sequences(Command command) {
  return sequences(shortcut(command).keys);
}

QString keys_text(std::string_view keys) {
  QStringList parts;
  for (const QKeySequence& sequence : sequences(keys))
    parts << sequence.toString(QKeySequence::NativeText);
  return parts.join(QStringLiteral(" or "));
}

QString keys_text(Command command) {
  return keys_text(shortcut(command).keys);
}

QList<Command> commands_for(const QKeyEvent& event) {
  Qt::KeyboardModifiers modifiers = event.modifiers() & ~Qt::KeypadModifier;
  int key = event.key() == Qt::Key_Enter ? int{Qt::Key_Return} : event.key();
  // The modifiers for a sign such as + or ? depend on the keyboard layout.
  bool is_sign = !event.text().isEmpty() && event.text()[0].isPrint() &&
                 !event.text()[0].isLetterOrNumber() && !event.text()[0].isSpace();
  if (is_sign) modifiers &= ~Qt::ShiftModifier;
  QKeySequence pressed(QKeyCombination(modifiers, static_cast<Qt::Key>(key)));
  QList<Command> result;
  for (const Shortcut& one : shortcuts()) {
    if (sequences(one.command).contains(pressed)) result << one.command;
  }
  return result;
}

}  // namespace headway::gui
