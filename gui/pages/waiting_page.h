// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>

namespace headway::gui {

class WrapLabel;

/// In the place of a page that needs the analysis while that is under way, or was cancelled.
class WaitingPage : public QWidget {
  Q_OBJECT
 public:
  explicit WaitingPage(QWidget* parent = nullptr);

  /// What the analysis does; empty: it was cancelled.
  void show_state(const QString& progress);

 signals:
  void timeline_wanted();

 private:
  WrapLabel* title_;
  WrapLabel* text_;
};

}  // namespace headway::gui
