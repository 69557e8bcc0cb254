// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "analyzer/replay/predictor.h"
#include "analyzer/whatif/editor.h"

namespace headway::analyzer {

/// How much slower kernels are while communication overlaps them, as far as the recording shows it.
struct OverlapSlowdown {
  double log_per_overlap =
      0;  ///< ln of the factor on the time of a fully overlapped kernel; at least 0
  std::int64_t kernels = 0;  ///< kernels with differing overlap; 0: nothing is known

  /// Factor on the time of a kernel that is overlapped for the share `share` of it.
  double stretch(double share) const;
};
/// Visits compute kernels that overlap communication, each with the overlapped share of its time.
void for_each_overlapped(const Predictor& predictor, trace::DeviceId device,
                         const std::function<void(trace::DeviceOpId, double)>& visit);
/// Regresses ln(duration) on the overlapped share, within kernels of one name and launch configuration.
OverlapSlowdown fit_overlap_slowdown(const Predictor& predictor, trace::DeviceId device);
/// Shortens kernels of a device that overlap communication if the share `less` (0 to 1) of that
/// communication is removed, as far as the recording shows that overlap slows them.
void slow_down_less(const Predictor& predictor, trace::DeviceId device, double less,
                    Editor& editor);

}  // namespace headway::analyzer
