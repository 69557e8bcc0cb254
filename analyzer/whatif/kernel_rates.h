// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// Bytes a nanosecond that a large memory-bound kernel moves: as calibrated, else 85 % of the peak; 0 where
/// neither is known.
double memory_bytes_per_ns(const Predictor& predictor, trace::DeviceId device);

/// Of the time that a memory-bound kernel takes beyond the shortest one, what its bytes take. The rest is for getting under way,
/// which a small kernel does no sooner than a large one.
enum class TimePerByte : std::uint8_t {
  kLikely,  ///< half way between the two best rates below
  kOwn,     ///< all of it
  kBest,    ///< its bytes move as fast as those of the recording's best kernel, of any family
};

/// The rates of the recorded memory-bound kernels: the best of each family, by name, and of all. Immutable; keeps a
/// reference to the predictor.
class MemoryRates {
 public:
  explicit MemoryRates(const Predictor& predictor);

  /// The share of a kernel's time beyond the shortest kernel's, 0 to 1. 1 for what is not bound by memory, and where bytes are
  /// not known.
  double share_of_bytes(trace::DeviceOpId kernel, TimePerByte time) const;

  /// What the fastest of the recorded memory-bound kernels take for so many bytes, ns beyond the shortest kernel's: no kernel takes
  /// less. Between two sizes it grows straight on logarithms, beyond them with the bytes. 0 where the recording has none.
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
  /// `reached`: by the recording's own large products; 0 where it has none.
  double rate(trace::DeviceOpId kernel, double reached) const;

  const Predictor& predictor_;
  std::map<Key, double> rates_;  ///< of the recorded matrix products
};

}  // namespace headway::analyzer
