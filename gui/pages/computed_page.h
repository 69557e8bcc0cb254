// SPDX-License-Identifier: MIT
#pragma once

#include <QStackedLayout>
#include <memory>
#include <optional>

#include "gui/background_task.h"
#include "gui/pages/page_widget.h"

namespace headway::gui {

class WrapLabel;

/// A page whose figures are made off the UI thread when it is first shown: "Working…" until then,
/// its body afterwards, or a text that says why there is nothing to show and what to record.
class ComputedPage : public PageWidget {
  Q_OBJECT
 public:
  explicit ComputedPage(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session) final;
  /// Shows the former figures until the new ones are there.
  void update_session(std::shared_ptr<const Session> session) final;
  /// Kept until the figures are there.
  void open(const Link& link) final;
  bool is_ready() const { return session_ && !task_->is_running(); }
  /// The text that stands in for the body; empty when the body is shown.
  QString empty_text() const;

 protected:
  /// The work to do for session(), which is not null. It must not touch the page; what it returns
  /// runs on the UI thread and fills the body, or calls show_empty().
  virtual BackgroundTask::Work make_work() = 0;
  /// Lets go of everything that belongs to the last session.
  virtual void clear() = 0;
  virtual void open_link(const Link&) {}

  /// Once, by the constructor of the page; shown when there are figures.
  void set_body(QWidget* body);
  /// Instead of the body, until the next work.
  void show_empty(const QString& why);
  /// Does the work again, for another choice of the reader.
  void restart();
  /// To an event on the timeline.
  void follow(const Target& target) { emit followed({.page = Page::kTimeline, .target = target}); }
  const std::shared_ptr<const Session>& session() const { return session_; }

 private:
  std::shared_ptr<const Session> session_;
  std::shared_ptr<const Session> shown_;  ///< what the body may point into
  std::optional<Link> waiting_;           ///< to be opened when the figures are there
  BackgroundTask* task_;
  QStackedLayout* layers_;
  WrapLabel* note_;
};

}  // namespace headway::gui
