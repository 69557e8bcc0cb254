// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "gui/models/opening/session.h"
#include "gui/models/window/pages.h"
#include "gui/timeline/theme.h"

namespace headway::gui {

/// A link: a page, and the target on it. A page ignores the fields that do not concern it.
struct Link {
  Page page = Page::kTimeline;
  Target target = {};                 ///< an event, segment or step to select
  std::optional<Interval> view = {};  ///< time range around it; none: chosen by the page
  int finding = -1;                   ///< index into Analysis::findings
  int evidence = -1;                  ///< index into its evidence
  bool predicted = false;             ///< also show the predicted step with the finding's fix
};

/// A page of an open trace. Filled when it is first shown, so opening a trace fills only one page.
class PageWidget : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;

  /// Null: no trace. The page shares ownership of the session.
  virtual void set_session(std::shared_ptr<const Session> session) = 0;
  /// Sets a later session of the same trace, which may have grown. The page keeps the user's
  /// position.
  virtual void update_session(std::shared_ptr<const Session> session) {
    set_session(std::move(session));
  }
  /// False for pages that can show a first look (see Session).
  virtual bool needs_analysis() const { return true; }
  virtual void set_theme(const Theme& theme) = 0;
  /// Shows the target of a link to this page; called after `set_session`.
  virtual void open(const Link&) {}

 signals:
  /// The user followed a link.
  void followed(const headway::gui::Link& link);
};

// Each function is defined in the file of its page.
#define HEADWAY_PAGE(value, id, title, keys, text) PageWidget* make_##id##_page();
HEADWAY_PAGES(HEADWAY_PAGE)
#undef HEADWAY_PAGE

}  // namespace headway::gui
