// SPDX-License-Identifier: MIT
#pragma once

#include <QFrame>
#include <QToolButton>
#include <memory>

#include "gui/models/opening/session.h"
#include "gui/timeline/theme.h"

namespace headway::gui {

class WrapLabel;

/// Data losses and doubts that users must know before they trust the figures, above every page.
/// Shows one line; all of them when opened.
class DoubtsBanner : public QFrame {
  Q_OBJECT
 public:
  explicit DoubtsBanner(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session);
  void set_theme(const Theme& theme);
  QString text() const;

 private:
  void refresh();

  std::shared_ptr<const Session> session_;
  const Theme* theme_ = &Theme::light();
  WrapLabel* line_;
  WrapLabel* all_;
  QToolButton* more_;
};

/// "Lost data", "Doubt" or "Note".
QString severity_words(const std::string& severity);

}  // namespace headway::gui
