// SPDX-License-Identifier: MIT
#pragma once

#include <QTabWidget>
#include <memory>
#include <vector>

#include "gui/pages/page_widget.h"

namespace headway::gui {

/// A page of several panes under tabs; each pane is filled when it is first shown.
class TabbedPage : public PageWidget {
  Q_OBJECT
 public:
  explicit TabbedPage(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session) override;
  void update_session(std::shared_ptr<const Session> session) override;
  void set_theme(const Theme& theme) override;
  void open(const Link& link) override;
  QTabWidget& tabs() { return *tabs_; }

 protected:
  void add_pane(const QString& title, PageWidget* pane);
  /// The index of the pane that shows a link.
  virtual int pane_for(const Link&) const { return 0; }

 private:
  void fill(int pane);

  std::shared_ptr<const Session> session_;
  QTabWidget* tabs_;
  std::vector<bool> filled_;  ///< by pane: it shows `session_`
};

}  // namespace headway::gui
