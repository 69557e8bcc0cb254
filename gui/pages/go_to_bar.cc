// SPDX-License-Identifier: MIT
#include "gui/pages/go_to_bar.h"

#include <QKeyEvent>
#include <QVBoxLayout>

#include "common/error.h"

namespace headway::gui {

GoToBar::GoToBar(std::function<Destination(const std::string&)> parse, QWidget* parent)
    : QFrame(parent), parse_(std::move(parse)), edit_(new QLineEdit), message_(new QLabel) {
  setObjectName(QStringLiteral("card"));
  setAutoFillBackground(true);
  edit_->setPlaceholderText(tr("Go to: 12.5s, +3ms, 1.2s..1.5s, step 7, 50%"));
  edit_->setAccessibleName(tr("Go to a time, a step or a share of the trace"));
  edit_->setMaxLength(100);
  message_->setTextFormat(Qt::PlainText);
  message_->setWordWrap(true);
  message_->hide();
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 8, 8, 8);
  layout->addWidget(edit_);
  layout->addWidget(message_);
  setFixedWidth(380);
  connect(edit_, &QLineEdit::textEdited, message_, &QWidget::hide);
  connect(edit_, &QLineEdit::textEdited, this, [this] { place(); });
  edit_->installEventFilter(this);
  hide();
}

void GoToBar::activate() {
  message_->hide();
  show();
  raise();
  place();
  edit_->selectAll();
  edit_->setFocus(Qt::ShortcutFocusReason);
}

void GoToBar::place() {
  layout()->activate();
  adjustSize();
  move((parentWidget()->width() - width()) / 2, 28);
}

void GoToBar::go() {
  try {
    Destination destination = parse_(edit_->text().toStdString());
    hide();
    emit went(destination);
    emit left();
  } catch (const Error& error) {
    message_->setText(QString::fromStdString(error.what()));
    message_->show();
    place();
  }
}

bool GoToBar::eventFilter(QObject* object, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    switch (static_cast<QKeyEvent*>(event)->key()) {
      case Qt::Key_Return:
      case Qt::Key_Enter:
        go();
        return true;
      case Qt::Key_Escape:
        hide();
        emit left();
        return true;
      default:
        break;
    }
  }
  return QFrame::eventFilter(object, event);
}

}  // namespace headway::gui
