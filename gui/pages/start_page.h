// SPDX-License-Identifier: MIT
#pragma once

#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QStackedWidget>
#include <QStringList>
#include <QVBoxLayout>

namespace headway::gui {

/// Shown while there is no trace: a welcome, the progress of loading, or an error with what to do
/// next.
class StartPage : public QStackedWidget {
  Q_OBJECT
 public:
  explicit StartPage(QWidget* parent = nullptr);

  void show_welcome(const QStringList& recent_files);
  void show_loading(const QString& path);
  void show_progress(const QString& what, double share);
  /// `way_out`: label of a button that opens something else instead; empty: no button.
  void show_error(const QString& path, const QString& message, const QString& way_out = {});
  QString error() const { return error_->text(); }

 signals:
  void open_wanted();
  void file_wanted(const QString& path);
  void cancel_wanted();
  /// The user pressed the button that show_error() offered.
  void way_out_wanted();

 private:
  QWidget* welcome();
  QWidget* loading();
  QWidget* failure();

  QVBoxLayout* recent_ = nullptr;
  QLabel* loading_what_ = nullptr;
  QLabel* loading_path_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QLabel* error_path_ = nullptr;
  QLabel* error_ = nullptr;
  QPushButton* retry_ = nullptr;
  QPushButton* way_out_ = nullptr;
  QString path_;
};

}  // namespace headway::gui
