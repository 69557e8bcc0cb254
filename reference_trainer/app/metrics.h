// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "reference_trainer/switches/switches.h"
#include "reference_trainer/train/run_result.h"

namespace headway::trainer {

/// Writes what a run measured as JSON for scripts (keys in docs/user-guide/trainer.md), whole or
/// not at all. Throws Error (bad input) when the file cannot be written.
void write_metrics(const std::filesystem::path& path, const EffectiveSettings& settings,
                   const RunResult& result);
/// Fails early, before a long run, when `path` cannot be written.
void check_metrics_path(const std::filesystem::path& path);

}  // namespace headway::trainer
