// SPDX-License-Identifier: MIT
#pragma once

#include <QLabel>
#include <QSplitter>
#include <memory>

#include "gui/pages/finding_detail.h"
#include "gui/pages/finding_list.h"
#include "gui/pages/page_widget.h"

namespace headway::gui {

/// The list of findings, and beside it the selected finding in full.
class FindingsPage : public PageWidget {
  Q_OBJECT
 public:
  explicit FindingsPage(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session) override;
  void set_theme(const Theme& theme) override;
  void open(const Link& link) override;
  FindingList& list() { return *list_; }
  FindingDetail& detail() { return *detail_; }

 private:
  FindingList* list_;
  FindingDetail* detail_;
  QLabel* empty_;
  QSplitter* splitter_;
};

}  // namespace headway::gui
