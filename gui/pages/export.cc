// SPDX-License-Identifier: MIT
#include "gui/pages/export.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <QAbstractItemView>
#include <QBuffer>
#include <QFile>
#include <QPainter>
#include <QSvgGenerator>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "common/error.h"
#include "gui/pages/data_table.h"

namespace headway::gui {
namespace {

QString qt_path(const std::filesystem::path& file) {
  return QFile::decodeName(QByteArray::fromStdString(file.string()));
}

[[noreturn]] void fail_write(const std::filesystem::path& file, const std::string& why) {
  std::error_code ignored;
  std::filesystem::path folder = std::filesystem::absolute(file, ignored).parent_path();
  const char* remedy = !std::filesystem::exists(folder, ignored) ? "Create its folder first"
                       : ::access(folder.c_str(), W_OK) != 0
                           ? "Its folder is not writable: choose another one"
                           : "Choose another place, or free some space";
  fail_usage("{}: cannot write: {}. {}.", file.string(), why, remedy);
}

/// A file that gets its final name only when it is complete. Not QSaveFile, which does not report
/// why a write failed.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path) : path_(path) {
    std::error_code ignored;
    // A device or pipe would be replaced by a file; a symbolic link stays a link.
    if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
      fail_write(path, "something else has that name");
    target_ = std::filesystem::is_symlink(path, ignored)
                  ? std::filesystem::weakly_canonical(path, ignored)
                  : path;
    temporary_ = target_.string() + fmt::format(".{}.tmp", ::getpid());
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail_write(path_, system_error_text(errno));
  }
  ~NewFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!finished_) ::unlink(temporary_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view data) {
    while (!data.empty()) {
      ssize_t written = ::write(descriptor_, data.data(), data.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail_write(path_, system_error_text(errno));
      data.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void finish() {
    int closed = ::close(std::exchange(descriptor_, -1));
    if (closed != 0 || ::rename(temporary_.c_str(), target_.c_str()) != 0)
      fail_write(path_, system_error_text(errno));
    finished_ = true;
  }

 private:
  std::filesystem::path path_;
  std::filesystem::path target_;
  std::string temporary_;
  int descriptor_ = -1;
  bool finished_ = false;
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
  // Otherwise text would have the size for Qt's default resolution.
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

bool is_svg(const std::filesystem::path& file) {
  return qt_path(file).endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive);
}

void export_picture(QWidget& widget, const std::filesystem::path& file) {
  QByteArray bytes = picture_of(widget, is_svg(file));
  if (bytes.isEmpty()) fail_usage("{}: the picture is too large.", file.string());
  NewFile out(file);
  out.write({bytes.constData(), static_cast<std::size_t>(bytes.size())});
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
  make([&](std::string_view piece) { out.write(piece); });
  out.finish();
}

std::optional<analyzer::Table> table_in_sight(QWidget& page) {
  DataTable* first = nullptr;
  for (DataTable* one : page.findChildren<DataTable*>()) {
    if (!one->isVisible()) continue;
    if (one->view().hasFocus()) return one->chosen();
    if (!first) first = one;
  }
  if (first) return first->chosen();
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
