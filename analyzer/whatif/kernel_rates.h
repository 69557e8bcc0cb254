// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// Rate of a large memory-bound kernel, bytes/ns: as calibrated, else 85 % of the peak; 0 if
/// neither is known.
double memory_bytes_per_ns(const Predictor& predictor, trace::DeviceId device);

/// How much of a memory-bound kernel's time beyond the shortest kernel's is for its bytes. The rest
/// is start-up time, which does not depend on the kernel's size.
enum class TimePerByte : std::uint8_t {
  kLikely,  ///< half way between the best rate of its family and the best of all
  kOwn,     ///< all of the time
  kBest,    ///< bytes at the rate of the recording's best kernel of any family
};

/// The best rates of the recorded memory-bound kernels, of each family and of all. Immutable; keeps
/// a reference to the predictor.
class MemoryRates {
 public:
  explicit MemoryRates(const Predictor& predictor);

  /// Share of a kernel's time beyond the shortest kernel's, 0 to 1, that is for its bytes. 1 for
  /// kernels that memory does not bound, and if bytes are not known.
  double share_of_bytes(trace::DeviceOpId kernel, TimePerByte time) const;

  /// Least time for `bytes`, in ns beyond the shortest kernel's: that of the fastest recorded
  /// memory-bound kernels. It is interpolated between sizes (linear on logarithms) and proportional
  /// to the bytes beyond them. 0 if the recording has no such kernels.
  double least_ns(trace::DeviceId device, double bytes) const;

 private:
  bool is_bound_by_memory(trace::DeviceOpId kernel) const;

  const Predictor& predictor_;
  DurationNs least_;
  std::map<std::pair<trace::DeviceId, KernelFamily>, double> of_family_;  ///< bytes a ns
  std::map<trace::DeviceId, double> of_all_;
  struct Fastest {
    double bytes = 0;
    double ns = 0;
  };
  std::map<trace::DeviceId, std::vector<Fastest>> fastest_;  ///< both grow
};

/// Share of their units' peak that large matrix products are assumed to reach without a
/// measurement. An H200 reaches 788 of 989 TFLOP/s (BF16, random data); others reach less.
inline constexpr double kMatrixShare = 0.7;

/// Rates of large matrix products on the recorded devices. Immutable; keeps a reference to the
/// predictor.
class ProductRates {
 public:
  explicit ProductRates(const Predictor& predictor);

  /// Rate in flops/ns for products of this kernel's units and number type: as calibrated, else the
  /// larger of 70 % of the peak and the rate of the recording's own large products; 0 if nothing is
  /// known.
  double of(trace::DeviceOpId kernel) const;

 private:
  using Key = std::tuple<trace::DeviceId, trace::MathUnit, Precision>;
  Key key_of(trace::DeviceOpId kernel) const;
  /// `reached`: rate of the recording's own large products; 0 if it has none.
  double rate(trace::DeviceOpId kernel, double reached) const;

  const Predictor& predictor_;
  std::map<Key, double> rates_;  ///< of the recorded matrix products
};

}  // namespace headway::analyzer
