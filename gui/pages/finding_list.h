// SPDX-License-Identifier: MIT
#pragma once

#include <QAbstractListModel>
#include <QListView>
#include <QStyledItemDelegate>
#include <memory>

#include "gui/models/details/findings.h"
#include "gui/models/opening/session.h"
#include "gui/timeline/theme.h"

namespace headway::gui {

/// The ranked list of findings: status as an icon and as a word, title, possible gain and
/// confidence.
class FindingList : public QListView {
  Q_OBJECT
 public:
  explicit FindingList(QWidget* parent = nullptr);
  ~FindingList() override;

  void set_session(std::shared_ptr<const Session> session);
  void set_theme(const Theme& theme);
  /// Index into Analysis::findings; -1 when there is none.
  int current() const;
  void set_current(int finding);

 signals:
  void current_changed(int finding);

 private:
  class Model;
  class Delegate;

  Model* model_;
  Delegate* delegate_;
};

}  // namespace headway::gui
