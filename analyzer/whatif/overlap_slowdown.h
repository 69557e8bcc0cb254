// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// How much slower kernels are while communication runs beside them, as far as the recording shows it.
struct OverlapSlowdown {
  double log_per_overlap =
      0;  ///< ln of the stretch of a kernel that is overlapped all the time; at least 0
  std::int64_t kernels = 0;  ///< that differ in how much they are overlapped; 0: nothing is known

  /// By what a kernel's time is multiplied that is overlapped for `share` of it.
  double stretch(double share) const;
};
/// Kernels of arithmetic that run beside communication, each with the share of its time.
void for_each_overlapped(const Predictor& predictor, trace::DeviceId device,
                         const std::function<void(trace::DeviceOpId, double)>& visit);
/// Regresses ln(duration) on the overlapped share, within kernels of one name and launch configuration.
OverlapSlowdown fit_overlap_slowdown(const Predictor& predictor, trace::DeviceId device);

}  // namespace headway::analyzer
