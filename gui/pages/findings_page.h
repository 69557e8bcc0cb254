// SPDX-License-Identifier: MIT
#pragma once

#include <QLabel>
#include <QSplitter>
#include <memory>

#include "gui/pages/finding_detail.h"
#include "gui/pages/finding_list.h"

namespace headway::gui {

/// The list of findings beside the one that is selected, in full.
class FindingsPage : public QWidget {
  Q_OBJECT
 public:
  explicit FindingsPage(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session);
  void set_theme(const Theme& theme);
  void show_finding(int finding);
  FindingList& list() { return *list_; }
  FindingDetail& detail() { return *detail_; }

 signals:
  void evidence_followed(int finding, int evidence);

 private:
  FindingList* list_;
  FindingDetail* detail_;
  QLabel* empty_;
  QSplitter* splitter_;
};

}  // namespace headway::gui
