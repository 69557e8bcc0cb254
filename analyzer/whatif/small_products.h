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

/// What holds back a product whose blocks do not fill the device: latency, of which faster units save nothing, or what each
/// block computes and moves.
enum class SmallProduct : std::uint8_t {
  kEither,   ///< the likeliest: as the recording's products of other sizes tell, else half of each
  kLatency,  ///< one end of what is likely
  kArithmetic,  ///< the other
};

/// How long the recording's small products take by what each of their blocks has to do: where several times the work takes no
/// longer, all of them wait for latency. By family of kernels; products of one size tell nothing. The ends are half way to what they
/// are without such a comparison. Immutable; keeps a reference to the predictor.
class SmallProducts {
 public:
  /// `flops_per_s`: what large products reach on the units on which a kernel runs now.
  SmallProducts(const Predictor& predictor, std::int32_t multiprocessors,
                std::function<double(trace::DeviceOpId)> flops_per_s);

  /// The share of its time, beyond what any kernel takes, that a product of known arithmetic and bytes takes with `faster`
  /// times the arithmetic's rate and this share of the bytes; above 1 where it takes longer. Empty where its bound is not known.
  std::optional<double> share_left(trace::DeviceOpId product, double faster, double bytes,
                                   SmallProduct held_by) const;

  /// The ends of what is likely, for products of which some have fewer blocks than the device has multiprocessors; none where
  /// all fill it.
  std::vector<SmallProduct> ends() const;

 private:
  /// Times that never fall with the work, of products in the order of their work; in between, straight on logarithms.
  struct Knot {
    double work_ns = 0;
    double time_ns = 0;
  };
  using Curve = std::vector<Knot>;

  bool is_small(trace::DeviceOpId product) const;
  /// What a block's arithmetic or bytes take if it waits for nothing else, the longer of both. 0 where not known.
  double work_of_block(trace::DeviceOpId product, double faster, double bytes) const;
  using Layer = std::pair<std::uint32_t, std::int64_t>;  ///< process and forward op
  std::optional<Layer> layer_of(trace::DeviceOpId product) const;
  /// Of the products of its layer. Its gradients compute as much as its forward pass, and of other units' kernels any may have the
  /// blocks that one of these has.
  std::int64_t most_blocks(trace::DeviceOpId product) const;
  /// The share of its time that it takes where units of so many times the rate are slower, and arithmetic takes over. The recording's
  /// products tell nothing of those units: their time may hide what the product waits for now, come on top of it, or the
  /// product stays as far behind these units as it is behind the present ones. Between the first two is the likeliest.
  std::optional<double> on_slower_units(trace::DeviceOpId product, const KernelBound& bound,
                                        double faster, double time_now, SmallProduct held_by) const;
  /// Nearest at its ends.
  static double within(const Curve& curve, double work_ns);
  /// How the time grows at an end of the curve, from there to twice the work or half of it: 0 not at all, 1 as the work does.
  static double slope(const Curve& curve, const Knot& end);
  /// Beyond the sizes that were recorded it goes on as at that end, or as `held_by` says.
  static double time_at(const Curve& curve, double work_ns, SmallProduct held_by);

  const Predictor& predictor_;
  std::int32_t multiprocessors_;
  std::function<double(trace::DeviceOpId)> flops_per_s_;
  DurationNs least_;  ///< what any kernel takes
  MemoryRates memory_;
  bool any_ = false;
  std::map<KernelFamily, Curve> curves_;
  std::map<Layer, std::int64_t> most_blocks_;
};

}  // namespace headway::analyzer
