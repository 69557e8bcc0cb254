// SPDX-License-Identifier: MIT
#pragma once

#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <functional>

#include "gui/models/details/go_to.h"

namespace headway::gui {

/// An input line over the timeline for a place to go to. Invalid input is explained below it.
class GoToBar : public QFrame {
  Q_OBJECT
 public:
  /// `parse` throws Error for invalid input.
  GoToBar(std::function<Destination(const std::string&)> parse, QWidget* parent);

  /// Shows the bar with the keyboard focus; its former text is selected, so that typing replaces
  /// it.
  void activate();
  QLineEdit& edit() { return *edit_; }
  QString message() const { return message_->text(); }

 signals:
  /// The user entered a valid place.
  void went(const headway::gui::Destination& destination);
  /// Closed without going anywhere.
  void left();

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void go();
  void place();

  std::function<Destination(const std::string&)> parse_;
  QLineEdit* edit_;
  QLabel* message_;
};

}  // namespace headway::gui
