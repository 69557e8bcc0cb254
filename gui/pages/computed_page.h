// SPDX-License-Identifier: MIT
#pragma once

#include <QStackedLayout>
#include <memory>
#include <optional>

#include "gui/pages/page_widget.h"
#include "gui/timeline/background_task.h"

namespace headway::gui {

class WrapLabel;

/// A page whose figures are computed off the UI thread when it is first shown. Until then it shows
/// "Working…", afterwards its body, or a text that says why there is nothing to show and what to
/// record.
class ComputedPage : public PageWidget {
  Q_OBJECT
 public:
  explicit ComputedPage(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session) final;
  /// Shows the former figures until the new ones are ready.
  void update_session(std::shared_ptr<const Session> session) final;
  /// Keeps the link until the figures are ready.
  void open(const Link& link) final;
  bool is_ready() const { return session_ && !task_->is_running(); }
  /// The text shown instead of the body; empty when the body is shown.
  QString empty_text() const;

 protected:
  /// Returns the work to do for session(), which is not null. The work must not touch the page. The
  /// function that it returns runs on the UI thread and fills the body, or calls show_empty().
  virtual BackgroundTask::Work make_work() = 0;
  /// Drops everything that belongs to the last session.
  virtual void clear() = 0;
  virtual void open_link(const Link&) {}

  /// Called once by the constructor of the page; the body is shown when there are figures.
  void set_body(QWidget* body);
  /// Shows a text instead of the body until the next work is done.
  void show_empty(const QString& why);
  /// Repeats the work after the user made another choice.
  void restart();
  /// Goes to a target on the timeline.
  void follow(const Target& target) { emit followed({.page = Page::kTimeline, .target = target}); }
  const std::shared_ptr<const Session>& session() const { return session_; }

 private:
  std::shared_ptr<const Session> session_;
  std::shared_ptr<const Session> shown_;  ///< the session that the body may point into
  std::optional<Link> waiting_;           ///< link to open when the figures are ready
  BackgroundTask* task_;
  QStackedLayout* layers_;
  WrapLabel* note_;
};

}  // namespace headway::gui
