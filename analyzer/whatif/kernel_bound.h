// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/hardware/gpus.h"
#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// The limits of the device whose steps are judged; none if these are a host thread's steps.
std::optional<DeviceLimits> limits_of_steps(const Predictor& predictor);

/// Share of the ratio of two peaks that a product gains on faster units if only its time is known.
/// Faster units wait for memory more often.
inline constexpr double kShareOfPeaks = 0.7;

/// Times of a kernel's arithmetic and of its bytes, each alone, at the rates that large kernels
/// reach on its device. 0 if the recording does not count them or the rate is not known.
struct KernelBound {
  double arithmetic_ns = 0;
  double memory_ns = 0;

  bool known() const { return arithmetic_ns > 0 && memory_ns > 0; }
  /// The remaining share of the kernel's time `now_ns` with `faster` times the arithmetic's rate
  /// and the share `bytes` of its bytes. The time changes in proportion to the larger bound,
  /// however near the kernel is to it. If arithmetic becomes the larger bound, it runs at the rate
  /// of large kernels, and the time beyond the old memory bound is added. If memory becomes the
  /// larger bound, its rate is the geometric mean of that of large kernels and of the share of the
  /// bound that the kernel reaches now. 1 if the bound is not known.
  double share_left(double faster, double bytes, double now_ns) const;
};

/// True for families of kernels that move activations through memory. Sums, losses and updates are
/// not among them: they stay in 32 bits.
bool moves_activations(KernelFamily family);

/// The time of a kernel with `times` its bytes (for example 0.5 or 2), as a share of its time now.
/// The number of blocks grows with the bytes, and blocks that run at once take as long as one; a
/// partial wave has the likely cost (product_waves.h). A single block keeps all bytes, so its time
/// grows with them.
double share_with_bytes(const Predictor& predictor, trace::DeviceOpId kernel,
                        std::int32_t multiprocessors, double times);

/// Bytes of a product with all operands and results in 32 bits, as a multiple of its bytes now.
/// Empty unless the op graph counts in 32 bits.
std::optional<double> single_precision_bytes(const Predictor& predictor, trace::DeviceOpId product);

/// `flops_per_s`: the rate of large products on the units of the kernel.
KernelBound bound_of(const Predictor& predictor, trace::DeviceOpId kernel, double flops_per_s);

/// The time of matrix kernels in a steady step, by number type and unit in their names. Kernels
/// whose names do not show the type count only in `all`.
struct ProductTime {
  DurationNs all;
  DurationNs half;             ///< in 8 or 16 bits on matrix units
  DurationNs single;           ///< all other known types or on general cores
  DurationNs half_on_general;  ///< the part of `single` in 16 bits on general cores
};
ProductTime product_time(const Predictor& predictor);

}  // namespace headway::analyzer
