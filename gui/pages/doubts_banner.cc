// SPDX-License-Identifier: MIT
#include "gui/pages/doubts_banner.h"

#include <QHBoxLayout>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/models/text/display_text.h"
#include "gui/pages/labels.h"

namespace headway::gui {
namespace {

constexpr std::size_t kMostLines = 12;

}  // namespace

QString severity_words(const std::string& severity) {
  return severity == "loss"    ? QObject::tr("Lost data")
         : severity == "doubt" ? QObject::tr("Doubt")
                               : QObject::tr("Note");
}

DoubtsBanner::DoubtsBanner(QWidget* parent)
    : QFrame(parent), line_(plain_label({})), all_(plain_label({})), more_(new QToolButton) {
  setAutoFillBackground(true);
  setAccessibleName(tr("Doubts about this trace"));
  more_->setCheckable(true);
  more_->setAutoRaise(true);
  line_->set_single_line(true);
  QHBoxLayout* top = new QHBoxLayout;
  top->addWidget(line_, 1);
  top->addWidget(more_);
  QVBoxLayout* layout = new QVBoxLayout(this);
  layout->setContentsMargins(12, 4, 8, 4);
  layout->setSpacing(4);
  layout->addLayout(top);
  layout->addWidget(all_);
  connect(more_, &QToolButton::toggled, this, [this] { refresh(); });
  hide();
}

void DoubtsBanner::set_session(std::shared_ptr<const Session> session) {
  session_ = std::move(session);
  more_->setChecked(false);
  refresh();
}

QString DoubtsBanner::text() const {
  return line_->text();
}

void DoubtsBanner::set_theme(const Theme& theme) {
  theme_ = &theme;
  refresh();
}

void DoubtsBanner::refresh() {
  if (!session_ || session_->analysis.doubts.empty()) return hide();
  const std::vector<analyzer::Doubt>& doubts = session_->analysis.doubts;
  const std::string& worst = doubts.front().severity;
  QColor color = worst == "loss"    ? theme_->error
                 : worst == "doubt" ? theme_->warning
                                    : theme_->dim_text;
  QPalette colors = theme_->palette();
  colors.setColor(QPalette::Window,
                  QColor::fromRgb(blend(theme_->window.rgb(), color.rgb(), 0.12)));
  colors.setColor(QPalette::WindowText, theme_->text);
  setPalette(colors);
  auto text_of = [](const analyzer::Doubt& doubt) {
    return severity_words(doubt.severity) + QStringLiteral(": ") +
           QString::fromStdString(display_text(doubt.text));
  };
  line_->setText(QStringLiteral("⚠ ") + text_of(doubts.front()));
  more_->setVisible(true);
  more_->setText(more_->isChecked()  ? tr("Show less")
                 : doubts.size() > 1 ? tr("All %1 doubts").arg(doubts.size())
                                     : tr("Read all"));
  QStringList lines;
  for (std::size_t i = 0; i < std::min(kMostLines, doubts.size()); ++i) lines << text_of(doubts[i]);
  if (doubts.size() > kMostLines) lines << tr("… and %1 more").arg(doubts.size() - kMostLines);
  all_->setText(lines.join('\n'));
  all_->setVisible(more_->isChecked());
  line_->setVisible(!more_->isChecked());
  show();
}

}  // namespace headway::gui
