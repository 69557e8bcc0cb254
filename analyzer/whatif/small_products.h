// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/replay/predictor.h"
#include "analyzer/whatif/kernel_bound.h"
#include "analyzer/whatif/kernel_rates.h"

namespace headway::analyzer {

/// What limits a product whose blocks do not fill the device: latency, which faster units do not
/// shorten, or the arithmetic and bytes of each block.
enum class SmallProduct : std::uint8_t {
  kEither,   ///< the likeliest: as the recording's products of other sizes show, else half of each
  kLatency,  ///< one end of the likely range
  kArithmetic,  ///< the other end
};

/// The times of the recording's small products as a function of the work of a block, by kernel
/// family. If several times the work takes no longer, latency limits them. Products of one size
/// show nothing. The ends of the likely range lie half way between this curve and pure latency or
/// pure arithmetic. Immutable; keeps a reference to the predictor.
class SmallProducts {
 public:
  /// `flops_per_s`: the rate of large products on the present units of a kernel.
  SmallProducts(const Predictor& predictor, std::int32_t multiprocessors,
                std::function<double(trace::DeviceOpId)> flops_per_s);

  /// The remaining share of a product's time beyond the shortest kernel's, with `faster` times the
  /// arithmetic's rate and the share `bytes` of its bytes; above 1 if it takes longer. Empty if its
  /// bound is not known.
  std::optional<double> share_left(trace::DeviceOpId product, double faster, double bytes,
                                   SmallProduct held_by) const;

  /// The ends of the likely range if some products have fewer blocks than the device has
  /// multiprocessors; empty if there are none.
  std::vector<SmallProduct> ends() const;

 private:
  /// A point of a curve of time over work that never falls; interpolated linearly on logarithms.
  struct Knot {
    double work_ns = 0;
    double time_ns = 0;
  };
  using Curve = std::vector<Knot>;

  bool is_small(trace::DeviceOpId product) const;
  /// Time of a block's arithmetic or bytes without other waits, the longer of both. 0 if not known.
  double work_of_block(trace::DeviceOpId product, double faster, double bytes) const;
  using Layer = std::pair<std::uint32_t, std::int64_t>;  ///< process and forward op
  std::optional<Layer> layer_of(trace::DeviceOpId product) const;
  /// Largest number of blocks among the products of its layer. Forward product and gradients have
  /// the same arithmetic, so a kernel for other units may have the blocks of any of them.
  std::int64_t most_blocks(trace::DeviceOpId product) const;
  /// The factor on the product's time on units of `faster` < 1 times the rate, if arithmetic
  /// becomes the limit; else nothing. The recording does not show how those units behave: their
  /// time may hide the product's present waits, add to them, or stretch with them in proportion.
  /// The likeliest value lies between the first two.
  std::optional<double> on_slower_units(trace::DeviceOpId product, const KernelBound& bound,
                                        double faster, double time_now, SmallProduct held_by) const;
  /// The time on the curve; beyond its ends, the time of the nearest end.
  static double within(const Curve& curve, double work_ns);
  /// Growth of the time at an end of the curve, over a factor of two in work: 0 none, 1 like the
  /// work.
  static double slope(const Curve& curve, const Knot& end);
  /// The time on the curve; beyond its ends, extrapolated by the slope there, or as `held_by` says.
  static double time_at(const Curve& curve, double work_ns, SmallProduct held_by);

  const Predictor& predictor_;
  std::int32_t multiprocessors_;
  std::function<double(trace::DeviceOpId)> flops_per_s_;
  DurationNs least_;  ///< time of the shortest kernel
  MemoryRates memory_;
  bool any_ = false;
  std::map<KernelFamily, Curve> curves_;
  std::map<Layer, std::int64_t> most_blocks_;
};

}  // namespace headway::analyzer
