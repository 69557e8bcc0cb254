// SPDX-License-Identifier: MIT
#pragma once

#include <QLabel>
#include <QSplitter>
#include <memory>

#include "gui/pages/details_panel.h"
#include "gui/pages/evidence_tree.h"
#include "gui/pages/legend_bar.h"
#include "gui/pages/page_widget.h"
#include "gui/pages/search_bar.h"
#include "gui/timeline/timeline_view.h"

namespace headway::gui {

/// The timeline with search above, legend below, and at its side the findings to step through and
/// the details of what is selected.
class TimelinePage : public PageWidget {
  Q_OBJECT
 public:
  explicit TimelinePage(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session) override;
  void update_session(std::shared_ptr<const Session> session) override;
  bool needs_analysis() const override { return false; }
  void set_theme(const Theme& theme) override;
  void open(const Link& link) override;
  void show_evidence(int finding, int evidence);
  void show_target(const Target& target);
  void show_step(std::uint32_t step, Interval where);
  /// False for commands that are not the timeline's.
  bool run(Command command);

  TimelineView& view() { return *view_; }
  SearchBar& search() { return *search_; }
  DetailsPanel& details() { return *details_; }
  EvidenceTree& evidence() { return *evidence_; }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  QWidget* toolbar();
  QWidget* side();
  void show_span();
  void open_in_ops();

  std::shared_ptr<const Session> session_;
  const Theme* theme_ = &Theme::light();
  TimelineView* view_;
  SearchBar* search_;
  LegendBar* legend_;
  DetailsPanel* details_;
  EvidenceTree* evidence_;
  QLabel* pointed_;
  QLabel* span_;
};

}  // namespace headway::gui
