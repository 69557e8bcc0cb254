// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>
#include <memory>

#include "gui/models/flames/flame_graph.h"
#include "gui/timeline/hover_card.h"

namespace headway::gui {

/// A flame graph with its root on top: a click zooms in to a stack, a click on an ancestor zooms
/// out.
class FlameView : public QWidget {
  Q_OBJECT
 public:
  explicit FlameView(QWidget* parent = nullptr);

  void set_graph(std::shared_ptr<const FlameGraph> graph);
  void set_theme(const Theme& theme);
  /// Stacks whose name contains the text stay bright; empty: all.
  void set_search(const QString& needle);
  /// A click leads to the longest event of a box and Ctrl+click zooms, instead of the other way round.
  void set_click_follows(bool follows) { click_follows_ = follows; }
  /// Gives a node the whole width; the root shows everything.
  void zoom_to(std::uint32_t node);
  const std::shared_ptr<const FlameGraph>& graph() const { return graph_; }
  std::uint32_t focus() const { return focus_; }
  std::uint32_t current() const { return current_; }
  const std::vector<FlameBox>& boxes() const { return boxes_; }
  /// In pixels of this widget.
  QRect rect_of(const FlameBox& box) const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  int row_height() const { return fontMetrics().height() + 5; }

 signals:
  /// The user wants to see the longest event of a box.
  void followed(const headway::gui::Target& longest);
  /// Another node now has the whole width.
  void zoomed(std::uint32_t node);
  /// The user wants to see the source line that a box is named after.
  void source_wanted(const headway::gui::Target& longest);
  /// The keyboard focus moved to this box.
  void moved(const QRect& box);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  /// What a click, or Enter, does: zooms or follows.
  void act_on(std::uint32_t node, bool control);
  const FlameBox* box_at(const QPoint& point) const;
  QStringList describe(const FlameBox& box) const;
  void arrange();
  void set_current(std::uint32_t node);
  void step_sideways(int by);

  std::shared_ptr<const FlameGraph> graph_;
  const Theme* theme_ = &Theme::light();
  HoverCard* card_;
  std::vector<FlameBox> boxes_;
  std::string search_;
  bool click_follows_ = false;
  std::uint32_t focus_ = 0;    ///< node that has the whole width; 0: the root
  std::uint32_t current_ = 0;  ///< node with the keyboard focus
};

}  // namespace headway::gui
