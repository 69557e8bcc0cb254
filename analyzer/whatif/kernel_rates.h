// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <tuple>

#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// Bytes a nanosecond that a large memory-bound kernel moves: as calibrated, else 85 % of the peak; 0 where
/// neither is known.
double memory_bytes_per_ns(const Predictor& predictor, trace::DeviceId device);

/// Of the peak of its units, what large matrix products reach where nothing was measured; an H200 reaches 788 of
/// 989 TFLOP/s (BF16, random data), others less.
inline constexpr double kMatrixShare = 0.7;

/// What large matrix products reach on the recorded devices. Immutable; keeps a reference to the predictor.
class ProductRates {
 public:
  explicit ProductRates(const Predictor& predictor);

  /// Flops a nanosecond, for products of this kernel's units and number type: as calibrated, else 70 % of the
  /// peak, or what the recording's own large products reach where that is more; 0 where nothing is known.
  double of(trace::DeviceOpId kernel) const;

 private:
  using Key = std::tuple<trace::DeviceId, trace::MathUnit, Precision>;
  Key key_of(trace::DeviceOpId kernel) const;

  const Predictor& predictor_;
  std::map<Key, double> reached_;
};

}  // namespace headway::analyzer
