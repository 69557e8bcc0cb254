// SPDX-License-Identifier: MIT
#pragma once

#include <QWidget>
#include <memory>

#include "gui/models/search/hit_list.h"
#include "gui/pages/data_table.h"
#include "gui/pages/duration_histogram_view.h"
#include "gui/timeline/background_task.h"

namespace headway::gui {

class WrapLabel;

/// The hits of a search, as a list to jump from, beside a histogram of durations that filters it.
/// The list is made on another thread, and only while the panel is visible.
class HitsPanel : public QWidget {
  Q_OBJECT
 public:
  explicit HitsPanel(QWidget* parent = nullptr);

  /// Null: no search.
  void set_search(std::shared_ptr<const Session> session, std::shared_ptr<const Search> search);
  void set_theme(const Theme& theme);
  DataTable& table() { return *table_; }
  DurationHistogramView& histogram() { return *histogram_; }
  const HitList& list() const { return list_; }

 signals:
  void followed(const headway::gui::Target& target);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void want();
  void show_list(HitList list);
  void sorted_by(int column, bool descending);

  std::shared_ptr<const Session> session_;
  std::shared_ptr<const Search> search_;
  HitQuery query_;
  HitList list_;
  bool old_ = true;  ///< the list does not belong to `search_` and `query_`
  BackgroundTask* task_;
  DataTable* table_;
  DurationHistogramView* histogram_;
  WrapLabel* state_;
};

}  // namespace headway::gui
