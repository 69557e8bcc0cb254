// SPDX-License-Identifier: MIT
#include "gui/pages/legend_bar.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "gui/models/opening/session.h"

namespace headway::gui {
namespace {

constexpr int kMargin = 8;
constexpr int kGap = 16;
constexpr int kSwatch = 11;

}  // namespace

std::vector<analyzer::TimeClass> used_classes(const Session& session) {
  using analyzer::TimeClass;
  // Without the analysis: the classes that a device op can have by itself.
  if (!session.analysed)
    return {TimeClass::kComputeTensor, TimeClass::kComputeOther, TimeClass::kOptimizer,
            TimeClass::kCommTransfer,  TimeClass::kH2d,          TimeClass::kD2hOther};
  std::vector<TimeClass> result;
  for (const analyzer::TimeClassInfo& info : analyzer::time_classes()) {
    bool used = std::any_of(
        session.step_charts.begin(), session.step_charts.end(), [&](const StepChart& chart) {
          return std::find(chart.classes.begin(), chart.classes.end(), info.time_class) !=
                 chart.classes.end();
        });
    for (const analyzer::DevicePartition& partition : session.analysis.partitions) {
      for (const analyzer::DeviceStep& step : partition.steps)
        used = used || step.times[info.time_class].ns > 0;
    }
    if (used) result.push_back(info.time_class);
  }
  return result;
}

LegendBar::LegendBar(QWidget* parent) : QWidget(parent) {
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  setAccessibleName(tr("Legend"));
}

void LegendBar::set_classes(std::vector<analyzer::TimeClass> classes) {
  classes_ = std::move(classes);
  QStringList names;
  for (analyzer::TimeClass c : classes_)
    names << QString::fromUtf8(analyzer::info(c).label.data(),
                               static_cast<qsizetype>(analyzer::info(c).label.size()));
  setAccessibleDescription(names.join(QStringLiteral(", ")));
  setVisible(!classes_.empty() || explain_merging_);
  setFixedHeight(heightForWidth(std::max(1, width())));
  update();
}

void LegendBar::set_theme(const Theme& theme) {
  theme_ = &theme;
  update();
}

void LegendBar::explain_merging(bool explain) {
  explain_merging_ = explain;
  update();
}

void LegendBar::set_single_line(bool single) {
  single_ = single;
  setFocusPolicy(single ? Qt::TabFocus : Qt::NoFocus);
  set_open(false);
}

void LegendBar::set_open(bool open) {
  open_ = open;
  setFixedHeight(std::max(1, heightForWidth(std::max(1, width()))));
  update();
}

void LegendBar::mouseReleaseEvent(QMouseEvent* event) {
  int height = 0;
  for (const Entry& entry : arranged(width(), &height)) {
    if (entry.opens && entry.box.contains(event->position().toPoint())) return set_open(!open_);
  }
}

void LegendBar::keyPressEvent(QKeyEvent* event) {
  const bool toggles = event->key() == Qt::Key_Space || event->key() == Qt::Key_Return;
  if (!single_ || !toggles) return QWidget::keyPressEvent(event);
  set_open(!open_);
}

/// Keeps the entries that fit on a line, and adds one that opens the rest.
void LegendBar::cut_to_line(std::vector<Entry>& entries, int width) const {
  const QFontMetrics metrics(font());
  auto width_of = [&](const QString& text) {
    return kSwatch + 5 + metrics.horizontalAdvance(text) + kGap;
  };
  int needed = 2 * kMargin;
  for (const Entry& entry : entries) needed += width_of(entry.text);
  if (needed <= width) return;
  Entry more;
  more.opens = true;
  if (open_) {
    more.text = tr("Show one line");
    return entries.push_back(more);
  }
  const std::size_t all = entries.size();
  auto text = [&](std::size_t left) { return tr("%1 more …").arg(all - left); };
  std::size_t left = 0;
  int used = 2 * kMargin + width_of(text(0));
  while (left < all && used + width_of(entries[left].text) <= width)
    used += width_of(entries[left++].text);
  QStringList rest;
  for (std::size_t i = left; i < all; ++i) rest << entries[i].text;
  more.text = text(left);
  more.doc = rest.join('\n');
  entries.resize(left);
  entries.push_back(more);
}

std::vector<LegendBar::Entry> LegendBar::arranged(int width, int* height) const {
  auto text = [](std::string_view view) {
    return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
  };
  std::vector<Entry> entries;
  for (analyzer::TimeClass c : classes_) {
    const analyzer::TimeClassInfo& info = analyzer::info(c);
    entries.push_back(
        {text(info.label), text(info.doc), theme_->brush(role_of(c)), {}, false, false});
  }
  if (explain_merging_) {
    entries.push_back(
        {tr("Low bars: merged events"),
         tr("Events narrower than a pixel are merged. The bar's height is their share of the time; "
            "its colour is the most frequent one. No event is omitted."),
         theme_->dim_text,
         {},
         true,
         false});
  }
  if (single_) cut_to_line(entries, width);
  QFontMetrics metrics(font());
  int line = metrics.height() + 4;
  int x = kMargin;
  int y = 2;
  for (Entry& entry : entries) {
    const int swatch = entry.opens ? 0 : kSwatch + 5;
    int needed = swatch + metrics.horizontalAdvance(entry.text);
    if (x > kMargin && x + needed > width - kMargin) {
      x = kMargin;
      y += line;
    }
    entry.box = QRect(x, y, needed, line);
    x += needed + kGap;
  }
  *height = entries.empty() ? 0 : y + line + 2;
  return entries;
}

int LegendBar::heightForWidth(int width) const {
  int height = 0;
  arranged(width, &height);
  return height;
}

QSize LegendBar::sizeHint() const {
  return {400, heightForWidth(std::max(400, width()))};
}

void LegendBar::resizeEvent(QResizeEvent*) {
  setFixedHeight(std::max(1, heightForWidth(width())));
}

void LegendBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  int height = 0;
  for (const Entry& entry : arranged(width(), &height)) {
    QRect swatch(entry.box.left(), entry.box.center().y() - kSwatch / 2, kSwatch, kSwatch);
    if (entry.opens) {
      painter.setPen(theme_->accent);
      painter.drawText(entry.box.adjusted(0, 0, 2, 0), Qt::AlignLeft | Qt::AlignVCenter,
                       entry.text);
      if (hasFocus()) painter.drawRect(entry.box.adjusted(-3, 1, 3, -2));
      continue;
    }
    if (entry.merging) {
      for (int i = 0; i < kSwatch; i += 2) {
        int bar = 3 + i * 7 % (kSwatch - 2);
        painter.fillRect(QRect(swatch.left() + i, swatch.bottom() + 1 - bar, 1, bar), entry.fill);
      }
    } else {
      painter.fillRect(swatch, entry.fill);
    }
    painter.setPen(theme_->text);
    painter.drawText(entry.box.adjusted(kSwatch + 5, 0, 2, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     entry.text);
  }
}

bool LegendBar::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    QHelpEvent* help = static_cast<QHelpEvent*>(event);
    int height = 0;
    for (const Entry& entry : arranged(width(), &height)) {
      if (entry.box.contains(help->pos())) {
        QToolTip::showText(help->globalPos(), entry.doc, this);
        return true;
      }
    }
    QToolTip::hideText();
  }
  return QWidget::event(event);
}

}  // namespace headway::gui
