// SPDX-License-Identifier: MIT
#include "gui/pages/export.h"

#include <QAbstractItemView>
#include <QBuffer>
#include <QFile>
#include <QFileInfo>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <cstdio>

#include "common/error.h"

namespace headway::gui {
namespace {

QString qt_path(const std::filesystem::path& file) {
  return QFile::decodeName(QByteArray::fromStdString(file.string()));
}

[[noreturn]] void fail_write(const std::filesystem::path& file, const QString& why) {
  QFileInfo folder(QFileInfo(qt_path(file)).absolutePath());
  const char* remedy = !folder.exists() ? "Its folder does not exist: make it first"
                       : !folder.isWritable()
                           ? "You may not write in its folder: choose another one"
                           : "Choose another place, or make room there";
  fail_usage("{}: could not be written: {}. {}.", file.string(), why.toStdString(), remedy);
}

/// A file that takes its name only when all is in it.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path) : path_(path), file_(qt_path(path)) {
    QFileInfo there(qt_path(path));
    // A device or pipe would be replaced by a file.
    if (there.exists() && !there.isFile())
      fail_write(path, QStringLiteral("there is something else of that name"));
    if (!file_.open(QIODevice::WriteOnly)) fail_write(path, file_.errorString());
  }
  void write(const char* data, std::size_t size) {
    if (file_.write(data, static_cast<qint64>(size)) != static_cast<qint64>(size))
      fail_write(path_, file_.errorString());
  }
  void finish() {
    if (!file_.commit()) fail_write(path_, file_.errorString());
  }

 private:
  std::filesystem::path path_;
  QSaveFile file_;
};

QByteArray picture_of(QWidget& widget, bool svg) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  if (!svg) {
    buffer.open(QIODevice::WriteOnly);
    widget.grab().save(&buffer, "PNG");
    return bytes;
  }
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setSize(widget.size());
  generator.setViewBox(widget.rect());
  generator.setTitle(QStringLiteral("Headway"));
  // Without it a text would be as large as on a device of Qt's own resolution.
  generator.setResolution(widget.logicalDpiX());
  QPainter painter(&generator);
  widget.render(&painter);
  painter.end();
  return bytes;
}

analyzer::Cell cell_of(const QAbstractItemModel& model, const QModelIndex& index) {
  QVariant raw = model.data(index, Qt::EditRole);
  switch (raw.typeId()) {
    case QMetaType::LongLong:
    case QMetaType::Int:
      return static_cast<std::int64_t>(raw.toLongLong());
    case QMetaType::Double:
      return raw.toDouble();
    default:
      break;
  }
  if (!raw.isValid()) raw = model.data(index, Qt::DisplayRole);
  return raw.toString().toStdString();
}

QAbstractItemView* view_in_sight(QWidget& page) {
  QAbstractItemView* first = nullptr;
  for (QAbstractItemView* view : page.findChildren<QAbstractItemView*>()) {
    if (!view->isVisible() || !view->model() || view->model()->columnCount() < 2) continue;
    if (view->hasFocus()) return view;
    if (!first) first = view;
  }
  return first;
}

}  // namespace

void export_picture(QWidget& widget, const std::filesystem::path& file) {
  QByteArray bytes = picture_of(widget, qt_path(file).endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive));
  if (bytes.isEmpty()) fail_usage("{}: the picture is too large to be made.", file.string());
  NewFile out(file);
  out.write(bytes.constData(), static_cast<std::size_t>(bytes.size()));
  out.finish();
}

void export_text(const std::filesystem::path& file,
                 const std::function<void(const std::function<void(std::string_view)>&)>& make) {
  if (file == "-") {
    make([](std::string_view piece) {
      if (std::fwrite(piece.data(), 1, piece.size(), stdout) != piece.size())
        fail_usage("the standard output could not be written.");
    });
    if (std::fflush(stdout) != 0) fail_usage("the standard output could not be written.");
    return;
  }
  NewFile out(file);
  make([&](std::string_view piece) { out.write(piece.data(), piece.size()); });
  out.finish();
}

std::optional<analyzer::Table> table_in_sight(QWidget& page) {
  QAbstractItemView* view = view_in_sight(page);
  if (!view) return std::nullopt;
  const QAbstractItemModel& model = *view->model();
  const QModelIndex root = view->rootIndex();
  analyzer::Table table;
  table.id = "table";
  for (int column = 0; column < model.columnCount(root); ++column) {
    QVariant title = model.headerData(column, Qt::Horizontal, Qt::EditRole);
    if (!title.isValid()) title = model.headerData(column, Qt::Horizontal, Qt::DisplayRole);
    table.columns.push_back({title.toString().toStdString(), "", analyzer::ColumnKind::kRaw});
  }
  for (int row = 0; row < model.rowCount(root); ++row) {
    std::vector<analyzer::Cell> cells;
    for (int column = 0; column < model.columnCount(root); ++column)
      cells.push_back(cell_of(model, model.index(row, column, root)));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace headway::gui
