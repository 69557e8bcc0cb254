// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "reference_trainer/devices/device.h"
#include "reference_trainer/devices/sim/drawn_world.h"
#include "reference_trainer/devices/sim/gpu_costs.h"

namespace headway::trainer::sim {

using conventions::MathUnit;

/// A product whose sums are each split among `parts` blocks. These write and read `bytes` bytes of
/// partial results.
struct SplitSums {
  int parts = 1;
  double bytes = 0;
};

/// Durations on a simulated GPU:
///   kernel  max(flops / (peak · share · fill), bytes / (bandwidth · share · fill)) + least
///   copy    latency + bytes / rate
/// `fill` is the part of the GPU that the kernel's blocks occupy in its last, partial wave: a
/// kernel of 66 blocks on 132 multiprocessors reaches half. Weights, which every sample needs, are
/// read by as many blocks as their bytes fill, however few samples there are, so that more samples
/// never make a kernel shorter. Products on matrix units whose rows begin at odd multiples of 8, 4
/// or 2 bytes reach 3/4, 1/2 or 1/3 of `share`. In a drawn world each family of kernels reaches a
/// part of these bounds, and short kernels reach less.
class CostModel {
 public:
  /// `memory_bytes_per_s` and `link_bytes_per_s` replace the table's values where they are not 0.
  /// `clock`: clock of the multiprocessors as a share of their highest; memory has its own clock.
  CostModel(SimulatedGpu gpu, const DrawnWorld& world, double memory_bytes_per_s,
            double link_bytes_per_s, double clock = 1);

  struct KernelCost {
    std::int64_t ns = 0;      ///< alone on the device
    std::int32_t blocks = 1;  ///< of the grid
    std::int32_t block_threads = 256;
    MathUnit unit = MathUnit::kGeneral;
    double occupancy = 0;  ///< of the device, alone, 0..1
    bool matrix = false;   ///< limited by arithmetic
  };
  /// `divided`: the share of the bytes that grows with the number of blocks. `access_bytes`: how
  /// many bytes a product on matrix units can read at once.
  KernelCost kernel(const Kernel::Tag& tag, double divided = 1, int access_bytes = 16,
                    SplitSums split = {}) const;
  /// `host_side`: the kind of memory at the host's end, pinned or pageable.
  std::int64_t copy_ns(std::int64_t bytes, MemoryKind host_side) const;

  const SimulatedGpu& gpu() const { return gpu_; }
  const GpuCosts& costs() const { return world_.costs; }

 private:
  /// Peak of the kernel's units for its operands.
  double peak_of(const Kernel::Tag& tag, MathUnit unit) const;

  SimulatedGpu gpu_;
  DrawnWorld world_;
  double clock_;        ///< of the multiprocessors, as a share of their highest
  double memory_rate_;  ///< bytes per second
  double pinned_rate_;  ///< likewise
  double pageable_rate_;
};

}  // namespace headway::trainer::sim
