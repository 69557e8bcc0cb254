// SPDX-License-Identifier: MIT
#include "gui/pages/health_page.h"

#include <QFrame>
#include <QGridLayout>
#include <QPainter>
#include <QPolygonF>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/pages/labels.h"

namespace headway::gui {
namespace {

constexpr int kMark = 14;
constexpr int kValues = 230;  ///< width of the column of values

QString text(std::string_view view) {
  return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

/// An icon that differs in shape, not only in colour.
class LevelMark : public QWidget {
 public:
  LevelMark(HealthLevel level, const Theme& theme) : level_(level), theme_(theme) {
    setFixedSize(kMark + 6, kMark + 6);
    setAccessibleName(text(words_of(level)));
    setToolTip(text(words_of(level)));
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QRectF box(2, 2, kMark, kMark);
    auto letter = [&](const QString& sign, QColor color) {
      QFont bold = font();
      bold.setBold(true);
      bold.setPixelSize(kMark - 3);
      painter.setFont(bold);
      painter.setPen(color);
      painter.drawText(box, Qt::AlignCenter, sign);
    };
    switch (level_) {
      case HealthLevel::kGood:
        painter.setPen(QPen(theme_.good, 1.6));
        painter.drawPolyline(QPolygonF({{4.5, 9.5}, {8, 13}, {14, 5}}));
        return;
      case HealthLevel::kInfo:
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme_.dim_text);
        painter.drawEllipse(box.center(), 2.2, 2.2);
        return;
      case HealthLevel::kDoubt:
        painter.setPen(QPen(theme_.warning, 1.4));
        painter.drawEllipse(box.adjusted(0.7, 0.7, -0.7, -0.7));
        return letter(QStringLiteral("?"), theme_.warning);
      case HealthLevel::kLoss:
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme_.error);
        painter.drawPolygon(QPolygonF({{9.0, 2.0}, {16.0, 15.5}, {2.0, 15.5}}));
        return letter(QStringLiteral("!"), theme_.base);
    }
  }

 private:
  HealthLevel level_;
  const Theme& theme_;
};

}  // namespace

HealthPage::HealthPage(QWidget* parent) : ComputedPage(parent), scroll_(new QScrollArea) {
  scroll_->setWidgetResizable(true);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setAccessibleName(tr("Trace health"));
  set_body(scroll_);
}

void HealthPage::set_theme(const Theme& theme) {
  theme_ = &theme;
  if (health_) fill();
}

BackgroundTask::Work HealthPage::make_work() {
  return [this, session = session()](const std::atomic<bool>&) -> BackgroundTask::Show {
    auto health =
        std::make_shared<const TraceHealth>(make_trace_health(session->trace, session->analysis));
    return [this, health] {
      health_ = health;
      fill();
    };
  };
}

void HealthPage::clear() {
  health_ = nullptr;
  scroll_->setWidget(new QWidget);
}

void HealthPage::fill() {
  QWidget* page = new QWidget;
  QVBoxLayout* layout = new QVBoxLayout(page);
  layout->setContentsMargins(28, 22, 28, 22);
  layout->setSpacing(14);
  layout->addWidget(heading_label(text(health_->headline), 4));
  for (const HealthSection& one : health_->sections) layout->addWidget(section(one));
  layout->addStretch(1);
  scroll_->setWidget(page);
}

QWidget* HealthPage::section(const HealthSection& section) {
  QFrame* card = new QFrame;
  card->setObjectName(QStringLiteral("card"));
  QGridLayout* grid = new QGridLayout(card);
  grid->setContentsMargins(16, 12, 16, 12);
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(5);
  grid->addWidget(heading_label(text(section.title), 1), 0, 0, 1, 4);
  bool values = std::any_of(section.lines.begin(), section.lines.end(),
                            [](const HealthLine& line) { return !line.value.empty(); });
  int row = 1;
  for (const HealthLine& line : section.lines) {
    grid->addWidget(new LevelMark(line.level, *theme_), row, 0, Qt::AlignTop);
    if (line.target) {
      LinkLabel* link = new LinkLabel(text(line.what));
      link->setToolTip(tr("Show the first on the timeline"));
      connect(link, &LinkLabel::followed, this, [this, target = line.target] { follow(target); });
      grid->addWidget(link, row, 1, Qt::AlignTop);
    } else if (line.value.empty() && line.advice.empty()) {
      grid->addWidget(plain_label(text(line.what)), row, 1, 1, 3, Qt::AlignTop);
    } else {
      grid->addWidget(plain_label(text(line.what)), row, 1, Qt::AlignTop);
    }
    if (!line.value.empty())
      grid->addWidget(plain_label(text(line.value)), row, 2, 1, line.advice.empty() ? 2 : 1,
                      Qt::AlignTop);
    if (!line.advice.empty())
      grid->addWidget(dim_label(text(line.advice)), row, line.value.empty() ? 2 : 3, 1,
                      line.value.empty() ? 2 : 1, Qt::AlignTop);
    ++row;
  }
  if (values) grid->setColumnMinimumWidth(2, kValues);
  grid->setColumnStretch(1, 4);
  grid->setColumnStretch(2, 2);
  grid->setColumnStretch(3, 7);
  return card;
}

PageWidget* make_health_page() {
  return new HealthPage;
}

}  // namespace headway::gui
