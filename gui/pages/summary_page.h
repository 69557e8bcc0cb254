// SPDX-License-Identifier: MIT
#pragma once

#include <QScrollArea>
#include <memory>

#include "gui/models/session.h"
#include "gui/pages/waterfall_view.h"

namespace headway::gui {

/// The verdict, the figures behind it and where a typical step went: the page a trace opens with.
class SummaryPage : public QScrollArea {
  Q_OBJECT
 public:
  explicit SummaryPage(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session);
  void set_theme(const Theme& theme);

 signals:
  void finding_opened(int finding);
  /// The longest stretch of that class in the waterfall's step.
  void segment_followed(const headway::gui::Target& target);

 private:
  QWidget* page();
  QWidget* figures();
  QWidget* waterfall();
  QWidget* findings();
  void follow_class(analyzer::TimeClass time_class);

  std::shared_ptr<const Session> session_;
  const Theme* theme_ = &Theme::light();
};

}  // namespace headway::gui
