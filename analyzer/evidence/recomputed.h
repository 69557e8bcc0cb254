// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// Whether memory has room for what is made again.
enum class MemoryRoom : std::uint8_t { kYes, kNo, kUnknown };

/// Kernels of the forward pass that run once more inside the backward pass, on one device (activation checkpointing). Told by
/// order: four or more kernels of the backward pass, of the same names and grids as four in a row of the forward pass of the
/// same step, a product among them. A backward pass of its own has other kernels, or the same in another order. A compiler makes
/// another kernel where other results are kept, so one of its kernels stands for another one, if the three beside it are the same.
struct Recomputed {
  std::vector<trace::DeviceOpId> ops;  ///< in all steps, by time
  std::int64_t kernels = 0;            ///< in steady steps
  std::int64_t steps = 0;              ///< steady ones
  DurationNs time;                     ///< of them, per steady step
  DurationNs backward;                 ///< kernels of the backward pass, with them, per steady step
  /// Results of the ops that they belong to, per step: about what keeping them would take. 0: nothing tells.
  std::int64_t bytes = 0;
  MemoryRoom room = MemoryRoom::kUnknown;
  std::int64_t free_bytes = -1;  ///< of the device at its peak; -1 unknown
};

Recomputed find_recomputed(const RuleContext& context, const DevicePartition& device);

}  // namespace headway::analyzer
