// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "trace/trace.h"

namespace headway::gui {

/// A step as a bar.
struct StepBar {
  std::uint32_t step = 0;  ///< index into Steps::all
  std::int64_t number = 0;
  bool steady = true;
  Interval interval;           ///< on the device; on the host when there is no device work
  analyzer::ClassTimes times;  ///< sums to the interval's length; all zero without device work

  DurationNs length() const { return interval.length(); }
};

/// Steps side by side, for one device.
struct StepChart {
  std::string title;  ///< "Device 0 · NVIDIA H100"
  std::vector<StepBar> bars;
  DurationNs median;    ///< of the steady bars
  DurationNs axis_max;  ///< bars beyond it are cut: an outlier must not flatten all others
  bool has_classes = false;
  std::vector<analyzer::TimeClass> classes;  ///< those with any time, in their order

  /// Bars that share a slot of the picture when there are more of them than slots.
  struct Slot {
    std::uint32_t first = 0;
    std::uint32_t last = 0;     ///< one past
    std::uint32_t slowest = 0;  ///< the one that is drawn
  };
  /// Bars [first, last) spread over `places` slots.
  std::vector<Slot> spread(std::uint32_t first, std::uint32_t last, std::uint32_t places) const;
};

/// One chart per device with steps; one of host steps when no device has any; none without steps.
std::vector<StepChart> make_step_charts(const trace::Trace& trace,
                                        const analyzer::Analysis& analysis);

}  // namespace headway::gui
