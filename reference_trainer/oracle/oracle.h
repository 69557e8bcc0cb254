// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>

#include "reference_trainer/devices/sim/simulated_run.h"
#include "reference_trainer/switches/switches.h"
#include "reference_trainer/train/run_result.h"

namespace headway::trainer {

/// The known facts about a run.
struct OracleFacts {
  const EffectiveSettings* settings = nullptr;
  const RunResult* result = nullptr;
  const sim::SimulatedRun* simulated = nullptr;  ///< null: the run was on a real device
  /// Mean step time in seconds of the same simulated run without what the preset has planted.
  std::optional<double> mean_step_s_without;
};

/// Writes the facts as JSON (docs/reference/oracle.md): what was planted and, for a simulated run,
/// its cost, the exact time of every step by cause, and every dependency between calls, ops and
/// batches. Ids are those of the run's trace. The same facts give the same bytes. Throws Error when
/// the file cannot be written.
void write_oracle(const std::filesystem::path& path, const OracleFacts& facts);

}  // namespace headway::trainer
