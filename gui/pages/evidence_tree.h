// SPDX-License-Identifier: MIT
#pragma once

#include <QTreeWidget>
#include <memory>

#include "gui/models/opening/session.h"
#include "gui/timeline/theme.h"

namespace headway::gui {

/// The findings beside the timeline, each with its evidence below it, to go through one by one.
class EvidenceTree : public QTreeWidget {
  Q_OBJECT
 public:
  explicit EvidenceTree(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session, const Theme& theme);
  /// Makes a piece of evidence current without emitting evidence_followed().
  void set_current(int finding, int evidence);
  /// The selected finding, or the one whose evidence is selected; -1: none.
  int current_finding() const;

 signals:
  /// Indices into Analysis::findings and into the finding's evidence.
  void evidence_followed(int finding, int evidence);
  /// The user wants to see the finding in full.
  void finding_opened(int finding);
};

}  // namespace headway::gui
