// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// Whether memory has room for the recomputed results.
enum class MemoryRoom : std::uint8_t { kYes, kNo, kUnknown };

/// Kernels of the forward pass that run again inside the backward pass, on one device (activation
/// checkpointing). They are recognised by order: four or more consecutive kernels of the backward
/// pass, including a product, whose names and grids match four consecutive kernels of the same
/// step's forward pass. Without recomputation, a backward pass has other kernels, or the same ones
/// in another order. A compiler generates another kernel if other results are kept, so one compiled
/// kernel of the four may differ from its counterpart.
struct Recomputed {
  std::vector<trace::DeviceOpId> ops;  ///< in all steps, by time
  std::int64_t kernels = 0;            ///< number of these kernels in steady steps
  std::int64_t steps = 0;              ///< number of steady steps
  DurationNs time;                     ///< of these kernels, per steady step
  DurationNs backward;                 ///< all kernels of the backward pass, per steady step
  /// Bytes of the results of their ops in a step: about the memory to keep them. 0: not known.
  std::int64_t bytes = 0;
  MemoryRoom room = MemoryRoom::kUnknown;
  std::int64_t free_bytes = -1;  ///< of the device at its peak; -1 unknown
};

Recomputed find_recomputed(const RuleContext& context, const DevicePartition& device);

}  // namespace headway::analyzer
