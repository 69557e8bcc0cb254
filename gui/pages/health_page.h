// SPDX-License-Identifier: MIT
#pragma once

#include <QScrollArea>
#include <memory>

#include "gui/models/figures/trace_health.h"
#include "gui/pages/computed_page.h"

namespace headway::gui {

/// The quality of the trace: doubts, coverage, losses, audit, clock and cost, origin.
class HealthPage : public ComputedPage {
  Q_OBJECT
 public:
  explicit HealthPage(QWidget* parent = nullptr);

  void set_theme(const Theme& theme) override;
  const TraceHealth* health() const { return health_.get(); }

 protected:
  BackgroundTask::Work make_work() override;
  void clear() override;

 private:
  void fill();
  QWidget* section(const HealthSection& section);

  std::shared_ptr<const TraceHealth> health_;
  const Theme* theme_ = &Theme::light();
  QScrollArea* scroll_;
};

}  // namespace headway::gui
