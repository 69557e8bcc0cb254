// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>

namespace headway::gui {

class WrapLabel;

/// Replaces a page that needs the analysis while the analysis runs or after it was cancelled.
class WaitingPage : public QWidget {
  Q_OBJECT
 public:
  explicit WaitingPage(QWidget* parent = nullptr);

  /// The progress of the analysis; empty: it was cancelled.
  void show_state(const QString& progress);

 signals:
  void timeline_wanted();

 private:
  WrapLabel* title_;
  WrapLabel* text_;
};

}  // namespace headway::gui
