// SPDX-License-Identifier: MIT
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <vector>

#include "gui/models/session_pair.h"

namespace headway::gui {

/// Compares two open traces on a thread of its own. A new pair replaces the one under way.
class PairMaker : public QObject {
  Q_OBJECT
 public:
  explicit PairMaker(QObject* parent = nullptr);
  /// Waits for what is under way.
  ~PairMaker() override;

  void start(std::shared_ptr<const Session> a, std::shared_ptr<const Session> b);
  /// Nothing is reported of what is under way.
  void forget() { current_ = nullptr; }

 signals:
  void made(std::shared_ptr<const headway::gui::SessionPair> pair);
  void failed(const QString& message);

 private:
  struct Job;
  void finish(Job* job);

  std::vector<std::unique_ptr<Job>> jobs_;
  Job* current_ = nullptr;
};

}  // namespace headway::gui
