// SPDX-License-Identifier: MIT
#pragma once

#include <QObject>
#include <memory>

#include "gui/models/opening/session.h"
#include "gui/models/timeline/event_links.h"
#include "gui/models/timeline/path_lanes.h"
#include "gui/timeline/background_task.h"

namespace headway::gui {

/// Relations in a trace: links between events, and the critical path on its rows.
struct Relations {
  explicit Relations(std::shared_ptr<const Session> of);

  std::shared_ptr<const Session> session;  ///< kept alive while its relations are in use
  EventLinks links;
  PathLanes path;
};

/// Finds the relations of a trace on another thread, when they are first wanted. That takes about
/// as long as the analysis.
class RelationsFinder : public QObject {
  Q_OBJECT
 public:
  explicit RelationsFinder(QObject* parent = nullptr);

  /// Null: none. A search for another session goes on, and its result is dropped.
  void set_session(std::shared_ptr<const Session> session);
  /// Starts the search unless it was started before.
  void want();
  const std::shared_ptr<const Relations>& get() const { return found_; }

 signals:
  /// get() is not null now.
  void ready();

 private:
  std::shared_ptr<const Session> session_;
  std::shared_ptr<const Relations> found_;
  bool wanted_ = false;
  BackgroundTask* task_;
};

}  // namespace headway::gui
