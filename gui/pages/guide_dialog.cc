// SPDX-License-Identifier: MIT
#include "gui/pages/guide_dialog.h"

#include <QScrollBar>
#include <QUrl>
#include <QVBoxLayout>

#include "gui/models/window/user_guide.h"

namespace headway::gui {

GuideDialog::GuideDialog(QWidget* parent) : QDialog(parent), browser_(new QTextBrowser) {
  setWindowTitle(tr("Headway user guide"));
  browser_->setOpenLinks(false);
  browser_->setFrameShape(QFrame::NoFrame);
  browser_->document()->setDocumentMargin(18);
  browser_->setAccessibleName(tr("User guide"));
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(browser_);
  resize(760, 620);
  connect(browser_, &QTextBrowser::anchorClicked, this,
          [this](const QUrl& link) { show_page(link.path()); });
}

void GuideDialog::show_page(const QString& file) {
  const std::string text = guide_text(file.toStdString());
  if (text.empty()) return;
  browser_->setMarkdown(QString::fromStdString(text));
  browser_->verticalScrollBar()->setValue(0);
  show();
  raise();
}

}  // namespace headway::gui
