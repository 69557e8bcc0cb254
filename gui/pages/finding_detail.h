// SPDX-License-Identifier: MIT
#pragma once

#include <QScrollArea>
#include <QVBoxLayout>
#include <memory>

#include "gui/models/opening/session.h"

namespace headway::gui {

/// One finding in full: claim, evidence with links, advice with the setting to change.
class FindingDetail : public QScrollArea {
  Q_OBJECT
 public:
  explicit FindingDetail(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session);
  /// By index into Analysis::findings; -1: nothing.
  void show_finding(int finding);
  int finding() const { return finding_; }

 signals:
  void evidence_followed(int finding, int evidence);
  /// The user wants to see the predicted step with the finding's fix.
  void prediction_followed(int finding);

 private:
  /// Creates the widgets of a finding.
  QWidget* page_of(const analyzer::Finding& finding);
  void add_sources(QVBoxLayout& layout, const analyzer::Finding& finding);

  std::shared_ptr<const Session> session_;
  int finding_ = -1;
};

}  // namespace headway::gui
