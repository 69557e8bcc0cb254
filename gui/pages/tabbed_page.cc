// SPDX-License-Identifier: MIT
#include "gui/pages/tabbed_page.h"

#include <QVBoxLayout>

namespace headway::gui {

TabbedPage::TabbedPage(QWidget* parent) : PageWidget(parent), tabs_(new QTabWidget) {
  tabs_->setDocumentMode(true);
  tabs_->setAccessibleName(tr("Views of this page"));
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(tabs_);
  setFocusProxy(tabs_);
  connect(tabs_, &QTabWidget::currentChanged, this, &TabbedPage::fill);
}

void TabbedPage::add_pane(const QString& title, PageWidget* pane) {
  filled_.push_back(false);
  tabs_->addTab(pane, title);
  connect(pane, &PageWidget::followed, this, &PageWidget::followed);
}

void TabbedPage::set_session(std::shared_ptr<const Session> session) {
  session_ = std::move(session);
  for (int i = 0; i < tabs_->count(); ++i)
    static_cast<PageWidget*>(tabs_->widget(i))->set_session(nullptr);
  filled_.assign(filled_.size(), false);
  fill(tabs_->currentIndex());
}

void TabbedPage::update_session(std::shared_ptr<const Session> session) {
  session_ = std::move(session);
  for (int i = 0; i < tabs_->count(); ++i) {
    if (filled_[static_cast<std::size_t>(i)])
      static_cast<PageWidget*>(tabs_->widget(i))->update_session(session_);
  }
}

void TabbedPage::fill(int pane) {
  if (!session_ || pane < 0 || filled_[static_cast<std::size_t>(pane)]) return;
  filled_[static_cast<std::size_t>(pane)] = true;
  static_cast<PageWidget*>(tabs_->widget(pane))->set_session(session_);
}

void TabbedPage::set_theme(const Theme& theme) {
  for (int i = 0; i < tabs_->count(); ++i)
    static_cast<PageWidget*>(tabs_->widget(i))->set_theme(theme);
}

void TabbedPage::open(const Link& link) {
  int pane = pane_for(link);
  tabs_->setCurrentIndex(pane);
  fill(pane);
  static_cast<PageWidget*>(tabs_->widget(pane))->open(link);
}

}  // namespace headway::gui
