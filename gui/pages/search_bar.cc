// SPDX-License-Identifier: MIT
#include "gui/pages/search_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QRegularExpression>
#include <utility>

#include "common/format.h"
#include "gui/timeline/key_bindings.h"

namespace headway::gui {

SearchBar::SearchBar(QWidget* parent)
    : QWidget(parent),
      edit_(new QLineEdit),
      status_(new QLabel),
      previous_(new QToolButton),
      next_(new QToolButton),
      regex_(new QToolButton),
      task_(new BackgroundTask(this)) {
  QHBoxLayout* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  edit_->setPlaceholderText(tr("Search names  (/)"));
  edit_->setAccessibleName(tr("Search names of ranges, calls, device ops and model ops"));
  edit_->setClearButtonEnabled(true);
  edit_->setMaxLength(400);
  edit_->setMinimumWidth(90);
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
  regex_->setText(QStringLiteral(".*"));
  regex_->setCheckable(true);
  regex_->setAutoRaise(true);
  regex_->setAccessibleName(tr("Regular expression"));
  regex_->setToolTip(tr("Search with a regular expression (as in Perl, either case)"));
  layout->addWidget(edit_, 3);
  layout->addWidget(regex_);
  layout->addWidget(previous_);
  layout->addWidget(next_);
  layout->addWidget(status_, 2);
  connect(edit_, &QLineEdit::textChanged, this, [this] { start(); });
  connect(regex_, &QToolButton::toggled, this, [this] { start(); });
  connect(task_, &BackgroundTask::failed, status_, &QLabel::setText);
  connect(previous_, &QToolButton::clicked, this, [this] { go(false); });
  connect(next_, &QToolButton::clicked, this, [this] { go(true); });
}

void SearchBar::set_session(std::shared_ptr<const Session> session) {
  task_->cancel();
  set_found({});
  current_ = {};
  session_ = std::move(session);
  edit_->clear();
  show_status();
}

void SearchBar::update_session(std::shared_ptr<const Session> session) {
  task_->cancel();
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

void SearchBar::search_for_name(const QString& name) {
  // A name that is too long for the input is searched for by its beginning.
  const bool fits = name.size() <= edit_->maxLength() - 2;
  set_regex(false);
  edit_->setText(fits ? '"' + name + '"' : name.left(edit_->maxLength()));
}

void SearchBar::set_regex(bool regex) {
  regex_->setChecked(regex);
}

bool SearchBar::clear() {
  if (edit_->text().isEmpty()) return false;
  edit_->clear();
  return true;
}

void SearchBar::set_found(Found found) {
  const bool had_marks = found_.marks != nullptr;
  found_ = std::move(found);
  if (had_marks || found_.marks) emit marks_changed();
}

/// None if the text is not a regular expression; shows the reason.
std::optional<TextMatcher> SearchBar::matcher(const std::string& needle) {
  if (!regex_->isChecked()) return substring_matcher(needle);
  QRegularExpression pattern(QString::fromStdString(needle),
                             QRegularExpression::CaseInsensitiveOption);
  if (!pattern.isValid()) {
    status_->setText(tr("Not a regular expression: %1 at character %2")
                         .arg(pattern.errorString())
                         .arg(pattern.patternErrorOffset() + 1));
    return std::nullopt;
  }
  // The regex engine gives up on texts that would take too long.
  return [pattern](std::string_view text) {
    return pattern.match(QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())))
        .hasMatch();
  };
}

void SearchBar::start() {
  task_->cancel();
  set_found({});
  std::string needle = edit_->text().toStdString();
  if (!session_ || needle.empty()) {
    go_when_found_.reset();
    return show_status();
  }
  std::optional<TextMatcher> wanted = matcher(needle);
  if (!wanted) {
    go_when_found_.reset();
    previous_->setEnabled(false);
    next_->setEnabled(false);
    return;
  }
  status_->setText(tr("Searching …"));
  task_->start([this, needle, wanted = std::move(*wanted),
                session = session_](const std::atomic<bool>& cancelled) -> BackgroundTask::Show {
    Found found;
    found.session = session;
    found.search =
        std::make_shared<Search>(session->trace, session->analysis, needle, wanted, &cancelled);
    if (!cancelled)
      found.marks = std::make_shared<HitMarks>(session->timeline, *found.search, &cancelled);
    return [this, found = std::move(found)] { finish(found); };
  });
}

void SearchBar::finish(Found found) {
  set_found(std::move(found));
  show_status();
  if (go_when_found_) go(*std::exchange(go_when_found_, std::nullopt));
}

void SearchBar::show_status() {
  const Search* search = found_.search.get();
  bool hits = search && search->hits() > 0;
  previous_->setEnabled(hits);
  next_->setEnabled(hits);
  if (!search) return status_->setText({});
  auto count = [](std::size_t n) {
    return QString::fromStdString(format_count(static_cast<std::int64_t>(n)));
  };
  if (!hits) return status_->setText(tr("No hits"));
  std::size_t position = search->position(current_);
  status_->setText(position ? tr("%1 of %2").arg(count(position), count(search->hits()))
                            : tr("%1 hits").arg(count(search->hits())));
}

void SearchBar::go(bool forward) {
  if (!found_.search) {
    // The user pressed Enter before the search was done.
    if (!edit_->text().isEmpty() && task_->is_running()) go_when_found_ = forward;
    return;
  }
  if (auto next = found_.search->next(current_, forward)) emit found(Target::of(*next));
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
