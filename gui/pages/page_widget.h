// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "gui/models/opening/session.h"
#include "gui/models/window/pages.h"
#include "gui/timeline/theme.h"

namespace headway::gui {

/// Where to go: a page, and what to show on it. A page ignores what means nothing to it.
struct Link {
  Page page = Page::kTimeline;
  Target target = {};                 ///< an event, segment or step to select
  std::optional<Interval> view = {};  ///< the time to show around it; none: as much as it needs
  int finding = -1;                   ///< index into Analysis::findings
  int evidence = -1;                  ///< index into its evidence
  bool predicted = false;             ///< a step with the finding's fix, beside the recorded one
};

/// A page of an open trace. Filled when it is first shown, so opening a trace pays for one page.
class PageWidget : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;

  /// Null: none is open. The page shares ownership of what it shows.
  virtual void set_session(std::shared_ptr<const Session> session) = 0;
  /// A later session of the same trace, which may have grown: the page keeps where the user is.
  virtual void update_session(std::shared_ptr<const Session> session) {
    set_session(std::move(session));
  }
  /// False for pages that a first look (see Session) fills.
  virtual bool needs_analysis() const { return true; }
  virtual void set_theme(const Theme& theme) = 0;
  /// Shows what a link to this page leads to; called after `set_session`.
  virtual void open(const Link&) {}

 signals:
  /// The user wants to go there.
  void followed(const headway::gui::Link& link);
};

// Each is defined in the file of its page.
#define HEADWAY_PAGE(value, id, title, keys, text) PageWidget* make_##id##_page();
HEADWAY_PAGES(HEADWAY_PAGE)
#undef HEADWAY_PAGE

}  // namespace headway::gui
