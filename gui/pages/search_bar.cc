// SPDX-License-Identifier: MIT
#include "gui/pages/search_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>

#include "common/format.h"
#include "gui/timeline/key_bindings.h"

namespace headway::gui {

SearchBar::SearchBar(QWidget* parent)
    : QWidget(parent),
      edit_(new QLineEdit),
      status_(new QLabel),
      previous_(new QToolButton),
      next_(new QToolButton) {
  QHBoxLayout* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  edit_->setPlaceholderText(tr("Search names  (/)"));
  edit_->setAccessibleName(tr("Search names of ranges, calls, device ops and ops of the model"));
  edit_->setClearButtonEnabled(true);
  edit_->setMaxLength(400);
  edit_->setMinimumWidth(150);
  edit_->setMaximumWidth(340);
  edit_->installEventFilter(this);
  status_->setTextFormat(Qt::PlainText);
  status_->setAccessibleName(tr("Search result"));
  previous_->setText(QStringLiteral("‹"));
  previous_->setAccessibleName(tr("Previous hit"));
  previous_->setToolTip(tr("Previous hit (%1)").arg(keys_text(Command::kSearchPrevious)));
  next_->setText(QStringLiteral("›"));
  next_->setAccessibleName(tr("Next hit"));
  next_->setToolTip(tr("Next hit (%1)").arg(keys_text(Command::kSearchNext)));
  for (QToolButton* button : {previous_, next_}) {
    button->setAutoRaise(true);
    button->setEnabled(false);
  }
  layout->addWidget(edit_, 3);
  layout->addWidget(previous_);
  layout->addWidget(next_);
  layout->addWidget(status_, 2);
  connect(edit_, &QLineEdit::textChanged, this, [this] { start(); });
  connect(previous_, &QToolButton::clicked, this, [this] { go(false); });
  connect(next_, &QToolButton::clicked, this, [this] { go(true); });
}

SearchBar::~SearchBar() {
  stop();
}

void SearchBar::set_session(std::shared_ptr<const Session> session) {
  stop();
  search_.reset();
  current_ = {};
  session_ = std::move(session);
  edit_->clear();
  show_status();
}

void SearchBar::update_session(std::shared_ptr<const Session> session) {
  stop();
  session_ = std::move(session);
  start();
}

void SearchBar::set_current(const Target& current) {
  current_ = current.kind == Target::Kind::kEvent ? current.event : analyzer::EventRef{};
  show_status();
}

void SearchBar::activate() {
  edit_->setFocus(Qt::ShortcutFocusReason);
  edit_->selectAll();
}

void SearchBar::search_for(const QString& text) {
  go_when_found_ = true;
  if (edit_->text() == text) return go(true);
  edit_->setText(text);
}

bool SearchBar::clear() {
  if (edit_->text().isEmpty()) return false;
  edit_->clear();
  return true;
}

void SearchBar::stop() {
  cancelled_ = true;
  if (thread_.joinable()) thread_.join();
  cancelled_ = false;
  std::lock_guard lock(mutex_);
  result_.reset();
}

void SearchBar::start() {
  stop();
  search_.reset();
  std::string needle = edit_->text().toStdString();
  if (!session_ || needle.empty()) {
    go_when_found_.reset();
    return show_status();
  }
  status_->setText(tr("Searching …"));
  thread_ = std::thread([this, needle, session = session_] {
    auto search = std::make_shared<Search>(session->trace, session->analysis, needle, &cancelled_);
    if (cancelled_) return;
    {
      std::lock_guard lock(mutex_);
      result_ = std::move(search);
    }
    QMetaObject::invokeMethod(
        this, [this] { finished(); }, Qt::QueuedConnection);
  });
}

void SearchBar::finished() {
  {
    std::lock_guard lock(mutex_);
    if (!result_) return;  // of a search that was replaced meanwhile
    search_ = std::move(result_);
    result_.reset();
  }
  show_status();
  if (go_when_found_) go(*std::exchange(go_when_found_, std::nullopt));
}

void SearchBar::show_status() {
  bool hits = search_ && search_->hits() > 0;
  previous_->setEnabled(hits);
  next_->setEnabled(hits);
  if (!search_) return status_->setText({});
  auto count = [](std::size_t n) {
    return QString::fromStdString(format_count(static_cast<std::int64_t>(n)));
  };
  if (!hits) return status_->setText(tr("No hits"));
  std::size_t position = search_->position(current_);
  status_->setText(position ? tr("%1 of %2").arg(count(position), count(search_->hits()))
                            : tr("%1 hits").arg(count(search_->hits())));
}

void SearchBar::go(bool forward) {
  if (!search_) {
    // Enter was faster than the search.
    if (!edit_->text().isEmpty()) go_when_found_ = forward;
    return;
  }
  if (auto next = search_->next(current_, forward)) emit found(Target::of(*next));
}

bool SearchBar::eventFilter(QObject* object, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    QKeyEvent* key = static_cast<QKeyEvent*>(event);
    switch (key->key()) {
      case Qt::Key_Return:
      case Qt::Key_Enter:
        go(!(key->modifiers() & Qt::ShiftModifier));
        return true;
      case Qt::Key_Escape:
        if (!clear()) emit left();
        return true;
      case Qt::Key_Down:
        emit left();
        return true;
      default:
        break;
    }
  }
  return QWidget::eventFilter(object, event);
}

}  // namespace headway::gui
