// SPDX-License-Identifier: MIT
#pragma once

#include <QTreeWidget>
#include <memory>

#include "gui/models/opening/session.h"
#include "gui/timeline/theme.h"

namespace headway::gui {

/// The findings beside the timeline: each with its evidence below it, to step through.
class EvidenceTree : public QTreeWidget {
  Q_OBJECT
 public:
  explicit EvidenceTree(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session, const Theme& theme);
  /// Marks an evidence as the current one without following it.
  void set_current(int finding, int evidence);
  /// The finding that is selected, or one of whose evidence is; -1: none.
  int current_finding() const;

 signals:
  /// Indices into Analysis::findings and into the finding's evidence.
  void evidence_followed(int finding, int evidence);
  /// The reader wants the finding in full.
  void finding_opened(int finding);
};

}  // namespace headway::gui
