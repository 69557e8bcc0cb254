// SPDX-License-Identifier: MIT
#pragma once

#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <functional>

#include "gui/models/details/go_to.h"

namespace headway::gui {

/// A line over the timeline to type a place into. What is no place is explained below it.
class GoToBar : public QFrame {
  Q_OBJECT
 public:
  /// `parse` throws Error for what is no place.
  GoToBar(std::function<Destination(const std::string&)> parse, QWidget* parent);

  /// Shows the bar over the timeline with the keyboard; its former text is selected, to be typed over.
  void activate();
  QLineEdit& edit() { return *edit_; }
  QString message() const { return message_->text(); }

 signals:
  /// The typed place was understood.
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
