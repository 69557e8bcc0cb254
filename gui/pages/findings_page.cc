// SPDX-License-Identifier: MIT
#include "gui/pages/findings_page.h"

#include <QLabel>
#include <QVBoxLayout>

#include "gui/pages/labels.h"

namespace headway::gui {

FindingsPage::FindingsPage(QWidget* parent)
    : PageWidget(parent),
      list_(new FindingList),
      detail_(new FindingDetail),
      empty_(plain_label(tr("No rule was applied: this trace has nothing to judge."))),
      splitter_(new QSplitter) {
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  empty_->setAlignment(Qt::AlignCenter);
  layout->addWidget(empty_, 1);
  layout->addWidget(splitter_, 1);
  splitter_->addWidget(list_);
  splitter_->addWidget(detail_);
  splitter_->setChildrenCollapsible(false);
  splitter_->setHandleWidth(1);
  splitter_->setSizes({380, 800});
  splitter_->setStretchFactor(1, 1);
  empty_->hide();
  connect(list_, &FindingList::current_changed, detail_, &FindingDetail::show_finding);
  connect(detail_, &FindingDetail::evidence_followed, this, [this](int finding, int evidence) {
    emit followed({.page = Page::kTimeline, .finding = finding, .evidence = evidence});
  });
  connect(detail_, &FindingDetail::prediction_followed, this, [this](int finding) {
    emit followed({.page = Page::kTimeline, .finding = finding, .predicted = true});
  });
}

void FindingsPage::set_session(std::shared_ptr<const Session> session) {
  bool any = session && !session->analysis.findings.empty();
  empty_->setVisible(!any);
  splitter_->setVisible(any);
  detail_->set_session(session);
  list_->set_session(std::move(session));
  detail_->show_finding(list_->current());
}

void FindingsPage::set_theme(const Theme& theme) {
  list_->set_theme(theme);
}

void FindingsPage::open(const Link& link) {
  if (link.finding >= 0) list_->set_current(link.finding);
}

PageWidget* make_findings_page() {
  return new FindingsPage;
}

}  // namespace headway::gui
