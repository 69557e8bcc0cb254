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
  /// The share of `now_ns`, its time, that is left with so many times the arithmetic's rate and this share of the bytes. The larger
  /// bound shortens or lengthens it in proportion, however near the kernel comes to it. Arithmetic that takes over takes what large
  /// kernels reach, and does not hide what the kernel takes beyond its memory bound; memory that takes over, the mean (on
  /// logarithms) of that and of the share that the kernel reaches now. 1 where the bound is not known.
  double share_left(double faster, double bytes, double now_ns) const;
};

/// What passes activations through memory. Sums, losses and updates stay in 32 bits.
bool moves_activations(KernelFamily family);

/// What a kernel takes with so many times the bytes (one half, twice), as a share of its time now. More bytes are more blocks, and
/// blocks that the device's multiprocessors take at once take as long as one; a partial wave costs what is likely
/// (product_waves.h). A single block has all the bytes itself.
double share_with_bytes(const Predictor& predictor, trace::DeviceOpId kernel,
                        std::int32_t multiprocessors, double times);

/// What a product moves where all that it reads and writes has 32 bits, as a multiple of what it moves now. Empty unless the op graph
/// counts in 32 bits.
std::optional<double> single_precision_bytes(const Predictor& predictor, trace::DeviceOpId product);

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
