// SPDX-License-Identifier: MIT
#include "gui/pages/source_opener.h"

#include <QDesktopServices>
#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>
#include <QUrl>

#include "gui/models/text/display_text.h"
#include "gui/models/window/editor_command.h"

namespace headway::gui {
namespace {

QString from_path(const std::filesystem::path& path) {
  return QString::fromStdString(path.string());
}

/// Opens the file with the desktop. A desktop may run a script instead of showing it.
QString open_with_desktop(const std::filesystem::path& file) {
  const QString how = QObject::tr("Set HEADWAY_EDITOR, such as “code -g {file}:{line}”.");
  if (QFileInfo(from_path(file)).isExecutable())
    return QObject::tr("No editor is configured, and the desktop might execute %1. %2")
        .arg(from_path(file), how);
  if (!QDesktopServices::openUrl(QUrl::fromLocalFile(from_path(file))))
    return QObject::tr("No editor is configured. %1").arg(how);
  return QObject::tr("Opened %1 with the desktop, which cannot jump to a line. %2")
      .arg(from_path(file), how);
}

}  // namespace

QString open_source(const SourcePlace& place, const trace::Trace& trace) {
  const auto environment = [](const char* name) {
    return qEnvironmentVariable(name).toStdString();
  };
  const SourceFile found = find_source(place, trace, environment("HEADWAY_SOURCE_PATH"));
  if (found.path.empty()) return QString::fromStdString(found.problem);
  const EditorCommand command =
      editor_command(found.path, place.line, environment, [](const std::string& program) {
        return !QStandardPaths::findExecutable(QString::fromStdString(program)).isEmpty();
      });
  if (!command.problem.empty()) return QString::fromStdString(command.problem);
  if (command.words.empty()) return open_with_desktop(found.path);
  QStringList arguments;
  for (std::size_t i = 1; i < command.words.size(); ++i)
    arguments << QString::fromStdString(command.words[i]);
  const QString program = QString::fromStdString(command.words.front());
  if (!QProcess::startDetached(program, arguments))
    return QObject::tr("Could not start %1.").arg(program);
  return QObject::tr("Opened %1 in %2.")
      .arg(QString::fromStdString(
               display_text(found.path.string() + ":" + std::to_string(place.line), 200)),
           QFileInfo(program).fileName());
}

}  // namespace headway::gui
