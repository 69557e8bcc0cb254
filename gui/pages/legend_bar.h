// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>
#include <vector>

#include "analyzer/model/time_class.h"
#include "gui/timeline/theme.h"

namespace headway::gui {

/// The colours of time classes with their names, on as many lines as needed.
class LegendBar : public QWidget {
  Q_OBJECT
 public:
  explicit LegendBar(QWidget* parent = nullptr);

  void set_classes(std::vector<analyzer::TimeClass> classes);
  void set_theme(const Theme& theme);
  /// A last entry that explains how merged events are drawn.
  void explain_merging(bool explain);

  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Entry {
    QString text;
    QString doc;
    QBrush fill;
    QRect box;
    bool merging = false;
  };
  std::vector<Entry> arranged(int width, int* height) const;

  const Theme* theme_ = &Theme::light();
  std::vector<analyzer::TimeClass> classes_;
  bool explain_merging_ = false;
};

/// The classes that any device of the analysis spent time on.
struct Session;
std::vector<analyzer::TimeClass> used_classes(const Session& session);

}  // namespace headway::gui
