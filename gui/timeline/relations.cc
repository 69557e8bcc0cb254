// SPDX-License-Identifier: MIT
#include "gui/timeline/relations.h"

namespace headway::gui {

Relations::Relations(std::shared_ptr<const Session> of)
    : session(std::move(of)), links(session->trace), path(session->timeline) {}

RelationsFinder::RelationsFinder(QObject* parent)
    : QObject(parent), task_(new BackgroundTask(this)) {}

void RelationsFinder::set_session(std::shared_ptr<const Session> session) {
  task_->cancel();
  session_ = std::move(session);
  found_.reset();
  wanted_ = false;
}

void RelationsFinder::want() {
  if (wanted_ || !session_) return;
  wanted_ = true;
  task_->start([this, session = session_](const std::atomic<bool>&) -> BackgroundTask::Show {
    return [this, relations = std::make_shared<const Relations>(session)] {
      found_ = relations;
      emit ready();
    };
  });
}

}  // namespace headway::gui
