// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "gui/models/figures/op_table.h"
#include "gui/models/tables/linked_table.h"

namespace headway::gui {

/// Device work whose bytes and operations are both known.
struct RooflinePoint {
  std::string name;
  ColorRole color = ColorRole::kOtherPhase;
  double intensity = 0;  ///< operations per byte
  double rate = 0;       ///< operations per second
  double byte_rate = 0;  ///< bytes per second
  DurationNs time;
  double share = 0;           ///< share of the device time of all kernels
  double attained = 0;        ///< share of the roof at this intensity; 0: the roof is not known
  bool memory_bound = false;  ///< the roof at this intensity is the memory bandwidth
  std::int64_t count = 0;
  Target longest;
};

/// A horizontal roof.
struct ComputePeak {
  std::string label;  ///< "TF32 on tensor cores"
  double flops = 0;   ///< per second
};

struct Roofline {
  std::vector<RooflinePoint> points;  ///< longest time first
  std::vector<ComputePeak> peaks;     ///< highest first; empty: not known
  double bandwidth = 0;               ///< bytes per second; 0 unknown
  std::string device;                 ///< the device whose roofs are used
  double known = 0;                   ///< share of kernel time whose bytes and operations are known
  std::string text;                   ///< what is known and what is not
  std::string missing;                ///< set if there is no point: why, and what to record
  LinkedTable table;                  ///< all groups; unknown figures are empty
};

/// Over the steady steps of all devices. The roofs are those of the device with most work.
Roofline make_roofline(const trace::Trace& trace, const analyzer::Analysis& analysis,
                       OpGrouping grouping);

/// A logarithmic axis over whole decades.
struct LogAxis {
  double low = 0;  ///< exponents of ten
  double high = 1;
  /// 0 at the low end, 1 at the high end.
  double position(double value) const;
  static LogAxis over(double least, double largest);
};

}  // namespace headway::gui
