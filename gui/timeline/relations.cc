// SPDX-License-Identifier: MIT
#include "gui/timeline/relations.h"

namespace headway::gui {

Relations::Relations(std::shared_ptr<const Session> of)
    : session(std::move(of)), links(session->trace), path(session->timeline) {}

RelationsFinder::RelationsFinder(QObject* parent) : QObject(parent) {}

RelationsFinder::~RelationsFinder() {
  for (std::thread& thread : threads_) thread.join();
}

void RelationsFinder::set_session(std::shared_ptr<const Session> session) {
  session_ = std::move(session);
  found_.reset();
  wanted_ = false;
}

void RelationsFinder::want() {
  if (wanted_ || !session_) return;
  wanted_ = true;
  threads_.emplace_back([this, session = session_] {
    auto relations = std::make_shared<const Relations>(session);
    // The destructor waits for this thread, so the object is there; its events are dropped with it.
    QMetaObject::invokeMethod(
        this, [this, relations] { take(relations); }, Qt::QueuedConnection);
  });
}

void RelationsFinder::take(std::shared_ptr<const Relations> relations) {
  if (relations->session != session_) return;  // of a trace that was left meanwhile
  found_ = std::move(relations);
  emit ready();
}

}  // namespace headway::gui
