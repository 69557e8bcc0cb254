// SPDX-License-Identifier: MIT
#include "gui/pages/waiting_page.h"

#include <QVBoxLayout>

#include "gui/pages/labels.h"

namespace headway::gui {

WaitingPage::WaitingPage(QWidget* parent) : QWidget(parent) {
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(24, 24, 24, 24);
  layout->setSpacing(10);
  layout->addWidget(title_ = heading_label({}, 3));
  layout->addWidget(text_ = plain_label({}));
  LinkLabel* timeline = new LinkLabel(tr("Go to the timeline"));
  connect(timeline, &LinkLabel::followed, this, &WaitingPage::timeline_wanted);
  layout->addWidget(timeline);
  layout->addStretch(1);
}

void WaitingPage::show_state(const QString& progress) {
  if (progress.isEmpty()) {
    title_->setText(tr("Not analysed"));
    text_->setText(tr(
        "The analysis was cancelled, so this page is empty. Click \"Analyse\" above to run it."));
  } else {
    title_->setText(progress + QStringLiteral(" …"));
    text_->setText(tr("The analysis is running; its results appear here. The timeline is ready."));
  }
}

}  // namespace headway::gui
