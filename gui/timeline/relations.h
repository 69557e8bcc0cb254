// SPDX-License-Identifier: MIT
#pragma once

#include <QObject>
#include <memory>

#include "gui/background_task.h"
#include "gui/models/opening/session.h"
#include "gui/models/timeline/event_links.h"
#include "gui/models/timeline/path_lanes.h"

namespace headway::gui {

/// What belongs together in a trace: links between events, the critical path on its rows.
struct Relations {
  explicit Relations(std::shared_ptr<const Session> of);

  std::shared_ptr<const Session> session;  ///< kept while its relations are
  EventLinks links;
  PathLanes path;
};

/// Finds the relations of a trace on a thread of its own, when they are first wanted: they take about
/// as long as the analysis.
class RelationsFinder : public QObject {
  Q_OBJECT
 public:
  explicit RelationsFinder(QObject* parent = nullptr);

  /// Null: none. What is being found of another one is dropped when it is ready.
  void set_session(std::shared_ptr<const Session> session);
  /// Begins to find, once.
  void want();
  const std::shared_ptr<const Relations>& get() const { return found_; }

 signals:
  /// Get() is not null now.
  void ready();

 private:
  std::shared_ptr<const Session> session_;
  std::shared_ptr<const Relations> found_;
  bool wanted_ = false;
  BackgroundTask* task_;
};

}  // namespace headway::gui
