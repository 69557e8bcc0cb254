// SPDX-License-Identifier: MIT
#include "gui/timeline/accessible_timeline.h"

#include <QAccessible>
#include <QAccessibleWidget>
#include <map>

#include "common/format.h"
#include "gui/timeline/timeline_view.h"

namespace headway::gui {
namespace {

/// A row of the timeline; `index` counts the shown rows.
class AccessibleRow : public QAccessibleInterface {
 public:
  AccessibleRow(TimelineView& view, int index) : view_(view), index_(index) {}

  bool isValid() const override { return at() != nullptr; }
  QObject* object() const override { return nullptr; }
  QAccessibleInterface* parent() const override {
    return QAccessible::queryAccessibleInterface(&view_);
  }
  QAccessibleInterface* child(int) const override { return nullptr; }
  QAccessibleInterface* childAt(int, int) const override { return nullptr; }
  int childCount() const override { return 0; }
  int indexOfChild(const QAccessibleInterface*) const override { return -1; }
  QAccessible::Role role() const override { return QAccessible::ListItem; }

  QString text(QAccessible::Text kind) const override {
    const RowLayout::Shown* shown = at();
    if (!shown) return {};
    const Row& row = view_.frame().model->row(shown->row);
    if (kind == QAccessible::Name) {
      QString name = QString::fromStdString(row.label);
      if (!row.detail.empty()) name += QStringLiteral(", ") + QString::fromStdString(row.detail);
      return name;
    }
    if (kind != QAccessible::Description) return {};
    return describe(*shown, row);
  }
  void setText(QAccessible::Text, const QString&) override {}

  QRect rect() const override {
    const RowLayout::Shown* shown = at();
    if (!shown) return {};
    QPoint top = view_.viewport()->mapToGlobal(QPoint(0, view_.frame().screen_y(shown->y)));
    return {top, QSize(view_.viewport()->width(), shown->height)};
  }

  QAccessible::State state() const override {
    QAccessible::State state;
    const RowLayout::Shown* shown = at();
    if (!shown) return state;
    const Row& row = view_.frame().model->row(shown->row);
    const bool current = shown->row == view_.current_row();
    state.focusable = true;
    state.selectable = true;
    state.focused = current && view_.hasFocus();
    state.selected = current;
    state.expandable = row.can_fold();
    state.expanded = row.can_fold() && !view_.layout().is_folded(shown->row);
    state.collapsed = row.can_fold() && view_.layout().is_folded(shown->row);
    state.offscreen = !view_.viewport()->rect().intersects(
        QRect(0, view_.frame().screen_y(shown->y), 1, std::max(1, shown->height)));
    return state;
  }

 private:
  const RowLayout::Shown* at() const {
    const auto& shown = view_.layout().shown();
    return static_cast<std::size_t>(index_) < shown.size()
               ? &shown[static_cast<std::size_t>(index_)]
               : nullptr;
  }

  /// "pinned, 3 of 4 lines folded away, 120 events in the 2.3 ms in view, busy 80 %".
  QString describe(const RowLayout::Shown& shown, const Row& row) const {
    QStringList parts;
    if (shown.pinned) parts << TimelineView::tr("pinned");
    if (row.can_fold() && view_.layout().is_folded(shown.row)) parts << TimelineView::tr("folded");
    if (!row.lanes.empty()) {
      LaneTotals totals;
      const Interval visible = view_.mapping().visible();
      for (const Lane& lane : row.lanes) lane.add_totals(visible, totals);
      parts << TimelineView::tr("%1 events in the %2 in view")
                   .arg(QString::fromStdString(format_count(totals.events)),
                        QString::fromStdString(format_duration(visible.length())));
    }
    return parts.join(QStringLiteral(", "));
  }

  TimelineView& view_;
  int index_;
};

class AccessibleTimeline : public QAccessibleWidget {
 public:
  explicit AccessibleTimeline(TimelineView* view) : QAccessibleWidget(view, QAccessible::List) {}
  ~AccessibleTimeline() override {
    for (const auto& [index, id] : rows_) QAccessible::deleteAccessibleInterface(id);
  }

  int childCount() const override { return static_cast<int>(view().layout().shown().size()); }
  QAccessibleInterface* child(int index) const override {
    if (index < 0 || index >= childCount()) return nullptr;
    auto [slot, is_new] = rows_.try_emplace(index, 0u);
    if (is_new)
      slot->second = QAccessible::registerAccessibleInterface(new AccessibleRow(view(), index));
    return QAccessible::accessibleInterface(slot->second);
  }
  int indexOfChild(const QAccessibleInterface* wanted) const override {
    for (const auto& [index, id] : rows_) {
      if (QAccessible::accessibleInterface(id) == wanted) return index;
    }
    return -1;
  }
  QAccessibleInterface* childAt(int x, int y) const override {
    Hit hit = view().hit(view().viewport()->mapFromGlobal(QPoint(x, y)));
    std::optional<std::size_t> index = view().layout().index_of(hit.row);
    return index ? child(static_cast<int>(*index)) : nullptr;
  }
  QAccessibleInterface* focusChild() const override {
    std::optional<std::size_t> index = view().layout().index_of(view().current_row());
    return index && view().hasFocus() ? child(static_cast<int>(*index)) : nullptr;
  }
  QString text(QAccessible::Text kind) const override {
    if (kind == QAccessible::Value) {
      return TimelineView::tr("%1 in view")
          .arg(QString::fromStdString(format_duration(view().mapping().visible().length())));
    }
    return QAccessibleWidget::text(kind);
  }

 private:
  TimelineView& view() const { return *static_cast<TimelineView*>(widget()); }

  mutable std::map<int, QAccessible::Id> rows_;  ///< created when a screen reader asks for them
};

QAccessibleInterface* make_interface(const QString&, QObject* object) {
  TimelineView* view = qobject_cast<TimelineView*>(object);
  return view ? new AccessibleTimeline(view) : nullptr;
}

}  // namespace

void make_timeline_accessible() {
  static const bool installed = [] {
    QAccessible::installFactory(make_interface);
    return true;
  }();
  (void)installed;
}

}  // namespace headway::gui
