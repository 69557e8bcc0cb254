// SPDX-License-Identifier: MIT
#pragma once

#include <QDialog>
#include <QTextBrowser>

namespace headway::gui {

/// The user guide in a separate window that may stay open beside the trace.
class GuideDialog : public QDialog {
  Q_OBJECT
 public:
  explicit GuideDialog(QWidget* parent);
  /// By the name of the file in docs/user-guide.
  void show_page(const QString& file);
  QString text() const { return browser_->toPlainText(); }

 private:
  QTextBrowser* browser_;
};

}  // namespace headway::gui
