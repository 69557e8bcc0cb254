// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "analyzer/replay/predictor.h"
#include "analyzer/whatif/editor.h"

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
/// Kernels of a device beside communication of which `less` (0 to 1) is left out are slowed down less, as far as the recording
/// shows that they are.
void slow_down_less(const Predictor& predictor, trace::DeviceId device, double less,
                    Editor& editor);

}  // namespace headway::analyzer
