// SPDX-License-Identifier: MIT
#pragma once

#include <QScrollArea>
#include <memory>

#include "gui/pages/page_widget.h"
#include "gui/pages/waterfall_view.h"

namespace headway::gui {

/// The verdict, the figures behind it and the time of a typical step by class: the first page of a
/// trace.
class SummaryPage : public PageWidget {
  Q_OBJECT
 public:
  explicit SummaryPage(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session) override;
  void set_theme(const Theme& theme) override;

 private:
  QWidget* page();
  QWidget* figures();
  QWidget* waterfall();
  QWidget* findings();
  /// Goes to the longest stretch of that class in the waterfall's step.
  void follow_class(analyzer::TimeClass time_class);
  void open_finding(std::size_t finding);

  std::shared_ptr<const Session> session_;
  const Theme* theme_ = &Theme::light();
  QScrollArea* scroll_;
};

}  // namespace headway::gui
