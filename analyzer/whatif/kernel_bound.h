// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/hardware/gpus.h"
#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// The device of the steps that are read; none where they are a host thread's.
std::optional<DeviceLimits> limits_of_steps(const Predictor& predictor);

/// Where only the time of a product is known: of the ratio of two peaks, what it gains at the faster one. Faster
/// units wait for memory more often.
inline constexpr double kShareOfPeaks = 0.7;

/// What a kernel's arithmetic and its bytes need on its device, each alone, at the rates that large kernels reach.
/// Zeros where the recording does not count them or the device's peak is not known.
struct KernelBound {
  double arithmetic_ns = 0;
  double memory_ns = 0;

  bool known() const { return arithmetic_ns > 0 && memory_ns > 0; }
  /// The share of its time that is left with so many times the arithmetic's rate and this share of the
  /// bytes: that of the larger bound, so how near the kernel comes to it does not matter. 1 where the bound
  /// is not known.
  double share_left(double faster, double bytes) const;
};

/// What passes activations through memory. Sums, losses and updates stay in 32 bits.
bool moves_activations(KernelFamily family);

/// The share of its time that a kernel takes with half the bytes: one that does not fill the device's
/// multiprocessors twice has blocks that start at once, and half as many of them take as long. A single block has all
/// the bytes itself.
double share_left_of_half(const Predictor& predictor, trace::DeviceOpId kernel,
                          std::int32_t multiprocessors);

/// `flops_per_s`: what large products reach on the units on which the kernel runs.
KernelBound bound_of(const Predictor& predictor, trace::DeviceOpId kernel, double flops_per_s);

/// The time of matrix kernels in a steady step, by their names: those that compute in 8 or 16 bits on matrix units, and
/// those in TF32 or FP32, or on general cores. The names of the others do not say.
struct ProductTime {
  DurationNs all;
  DurationNs half;
  DurationNs single;
  DurationNs half_on_general;  ///< of `single`, in 16 bits, which these matrix units do not take
};
ProductTime product_time(const Predictor& predictor);

}  // namespace headway::analyzer
