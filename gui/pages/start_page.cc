// SPDX-License-Identifier: MIT
#include "gui/pages/start_page.h"

#include <QFileInfo>
#include <QFontDatabase>
#include <QHBoxLayout>

#include "gui/models/text/display_text.h"
#include "gui/pages/labels.h"

namespace headway::gui {
namespace {

constexpr int kColumnWidth = 560;

QString shown(const QString& text, std::size_t characters = 300) {
  return QString::fromStdString(display_text(text.toStdString(), characters));
}

/// Creates a page with one centred column.
QVBoxLayout* column_of(QWidget* page) {
  QHBoxLayout* sides = new QHBoxLayout(page);
  QWidget* column = new QWidget;
  column->setMaximumWidth(kColumnWidth);
  column->setMinimumWidth(320);
  sides->addStretch(1);
  sides->addWidget(column, 8);
  sides->addStretch(1);
  QVBoxLayout* layout = new QVBoxLayout(column);
  layout->setSpacing(10);
  layout->addStretch(2);
  return layout;
}

}  // namespace

StartPage::StartPage(QWidget* parent) : QStackedWidget(parent) {
  addWidget(welcome());
  addWidget(loading());
  addWidget(failure());
}

QWidget* StartPage::welcome() {
  QWidget* page = new QWidget;
  QVBoxLayout* layout = column_of(page);
  layout->addWidget(heading_label(tr("Headway"), 12));
  layout->addWidget(
      plain_label(tr("See what limits each training step, by how much, and what to change.")));
  QPushButton* open = new QPushButton(tr("&Open a trace …"));
  open->setDefault(true);
  open->setMaximumWidth(220);
  connect(open, &QPushButton::clicked, this, &StartPage::open_wanted);
  layout->addSpacing(8);
  layout->addWidget(open);
  layout->addWidget(
      plain_label(tr("or drop files or a folder here: Headway recordings, Nsight Systems SQLite "
                     "exports, or PyTorch profiler JSON.")));
  recent_ = new QVBoxLayout;
  recent_->setSpacing(4);
  layout->addSpacing(10);
  layout->addLayout(recent_);
  layout->addSpacing(14);
  layout->addWidget(heading_label(tr("No trace yet?"), 0));
  QLabel* command = plain_label(QStringLiteral("headway record -o run.sqlite -- python train.py"));
  QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  font.setPointSizeF(command->font().pointSizeF());
  command->setFont(font);
  layout->addWidget(command);
  layout->addStretch(3);
  return page;
}

QWidget* StartPage::loading() {
  QWidget* page = new QWidget;
  QVBoxLayout* layout = column_of(page);
  loading_what_ = heading_label(tr("Opening"), 3);
  loading_path_ = plain_label({});
  progress_ = new QProgressBar;
  progress_->setRange(0, 1000);
  progress_->setTextVisible(false);
  progress_->setAccessibleName(tr("Loading progress"));
  QPushButton* cancel = new QPushButton(tr("&Cancel"));
  cancel->setMaximumWidth(120);
  connect(cancel, &QPushButton::clicked, this, &StartPage::cancel_wanted);
  layout->addWidget(loading_what_);
  layout->addWidget(loading_path_);
  layout->addWidget(progress_);
  layout->addWidget(cancel);
  layout->addStretch(3);
  return page;
}

QWidget* StartPage::failure() {
  QWidget* page = new QWidget;
  QVBoxLayout* layout = column_of(page);
  layout->addWidget(heading_label(tr("Could not open this file"), 4));
  error_path_ = plain_label({});
  error_ = plain_label({});
  error_->setAccessibleName(tr("What went wrong"));
  layout->addWidget(error_path_);
  layout->addWidget(error_);
  QHBoxLayout* buttons = new QHBoxLayout;
  QPushButton* other = new QPushButton(tr("&Open another …"));
  retry_ = new QPushButton(tr("&Try again"));
  way_out_ = new QPushButton;
  way_out_->setDefault(true);
  connect(way_out_, &QPushButton::clicked, this, &StartPage::way_out_wanted);
  buttons->addWidget(way_out_);
  buttons->addWidget(other);
  buttons->addWidget(retry_);
  buttons->addStretch(1);
  connect(other, &QPushButton::clicked, this, &StartPage::open_wanted);
  connect(retry_, &QPushButton::clicked, this, [this] { emit file_wanted(path_); });
  layout->addSpacing(6);
  layout->addLayout(buttons);
  layout->addStretch(3);
  return page;
}

void StartPage::show_welcome(const QStringList& recent_files) {
  while (QLayoutItem* item = recent_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  if (!recent_files.isEmpty()) recent_->addWidget(heading_label(tr("Recent"), 0));
  for (const QString& file : recent_files) {
    LinkLabel* link = new LinkLabel(shown(file, 90));
    connect(link, &LinkLabel::followed, this, [this, file] { emit file_wanted(file); });
    recent_->addWidget(link);
  }
  setCurrentIndex(0);
}

void StartPage::show_loading(const QString& path) {
  path_ = path;
  loading_path_->setText(shown(path));
  show_progress(tr("Opening"), 0);
  setCurrentIndex(1);
}

void StartPage::show_progress(const QString& what, double share) {
  loading_what_->setText(what + QStringLiteral(" …"));
  progress_->setValue(static_cast<int>(share * 1000));
}

void StartPage::show_error(const QString& path, const QString& message, const QString& way_out) {
  way_out_->setText(way_out);
  way_out_->setVisible(!way_out.isEmpty());
  path_ = path;
  error_path_->setText(shown(path));
  error_->setText(shown(message, 2000));
  setCurrentIndex(2);
}

}  // namespace headway::gui
