// SPDX-License-Identifier: MIT
#include "gui/models/figures/stacked_bars.h"

#include <algorithm>

namespace headway::gui {

DurationNs StackedBars::longest() const {
  DurationNs most;
  for (const StackedBar& bar : bars) most = std::max(most, bar.total());
  return most;
}

std::uint32_t StackedBars::key_of(analyzer::TimeClass time_class) {
  const analyzer::TimeClassInfo& info = analyzer::info(time_class);
  for (std::uint32_t k = 0; k < legend.size(); ++k) {
    if (legend[k].label == info.label) return k;
  }
  legend.push_back({std::string(info.label), std::string(info.doc), role_of(time_class), false});
  return static_cast<std::uint32_t>(legend.size()) - 1;
}

void StackedBars::add(std::string label, std::string detail, const analyzer::ClassTimes& times) {
  StackedBar bar{std::move(label), std::move(detail), {}};
  for (const analyzer::TimeClassInfo& info : analyzer::time_classes()) {
    if (times[info.time_class].ns > 0)
      bar.parts.push_back({key_of(info.time_class), times[info.time_class], {}});
  }
  bars.push_back(std::move(bar));
}

}  // namespace headway::gui
