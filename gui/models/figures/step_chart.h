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
  Interval interval;           ///< on the device; on the host if there is no device work
  analyzer::ClassTimes times;  ///< sums to the interval's length; all zero without device work

  DurationNs length() const { return interval.length(); }
};

/// Steps side by side, for one device.
struct StepChart {
  std::string title;  ///< "Device 0 · NVIDIA H100"
  std::vector<StepBar> bars;
  DurationNs median;    ///< of the steady bars
  DurationNs axis_max;  ///< longer bars are cut off, so that an outlier does not flatten all others
  bool has_classes = false;
  std::vector<analyzer::TimeClass> classes;  ///< classes with any time, in their order

  /// The bars that share a slot of the picture when there are more bars than slots.
  struct Slot {
    std::uint32_t first = 0;
    std::uint32_t last = 0;     ///< one past
    std::uint32_t slowest = 0;  ///< the bar that is drawn
  };
  /// Bars [first, last) distributed over `places` slots.
  std::vector<Slot> spread(std::uint32_t first, std::uint32_t last, std::uint32_t places) const;
};

/// One chart per device with steps; one of host steps if no device has any; empty without steps.
std::vector<StepChart> make_step_charts(const trace::Trace& trace,
                                        const analyzer::Analysis& analysis);

}  // namespace headway::gui
