// SPDX-License-Identifier: MIT
#include "gui/pages/computed_page.h"

#include "gui/pages/labels.h"

namespace headway::gui {

ComputedPage::ComputedPage(QWidget* parent)
    : PageWidget(parent),
      task_(new BackgroundTask(this)),
      layers_(new QStackedLayout(this)),
      note_(plain_label({})) {
  note_->setAlignment(Qt::AlignCenter);
  note_->setContentsMargins(40, 40, 40, 40);
  note_->setAccessibleName(tr("Why this page is empty"));
  layers_->addWidget(note_);
  connect(task_, &BackgroundTask::failed, this,
          [this](const QString& why) { show_empty(tr("Could not load this page.\n%1").arg(why)); });
}

void ComputedPage::set_body(QWidget* body) {
  layers_->addWidget(body);
  setFocusProxy(body);
}

void ComputedPage::set_session(std::shared_ptr<const Session> session) {
  task_->cancel();
  waiting_.reset();
  clear();
  session_ = std::move(session);
  shown_ = nullptr;
  note_->setText(tr("Working…"));
  layers_->setCurrentIndex(0);
  if (session_) restart();
}

void ComputedPage::update_session(std::shared_ptr<const Session> session) {
  if (!session) return set_session(nullptr);
  session_ = std::move(session);
  restart();
}

void ComputedPage::restart() {
  if (!session_) return;
  task_->start([this, session = session_, work = make_work()](const std::atomic<bool>& cancelled) {
    return [this, session, show = work(cancelled)] {
      layers_->setCurrentIndex(1);
      if (show) show();
      shown_ = session;
      if (waiting_) open_link(*waiting_);
      waiting_.reset();
    };
  });
}

void ComputedPage::show_empty(const QString& why) {
  note_->setText(why);
  layers_->setCurrentIndex(0);
}

QString ComputedPage::empty_text() const {
  return layers_->currentIndex() == 0 ? note_->text() : QString();
}

void ComputedPage::open(const Link& link) {
  if (is_ready()) {
    open_link(link);
  } else {
    waiting_ = link;
  }
}

}  // namespace headway::gui
