// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reference_trainer/data/storage.h"
#include "reference_trainer/devices/sim/cost_model.h"
#include "reference_trainer/devices/sim/recording.h"
#include "reference_trainer/switches/settings.h"
#include "reference_trainer/train/trainer.h"

namespace headway::trainer::sim {

/// The result of a simulated run, for every rank.
struct SimulatedRun {
  SimulatedGpu gpu;
  std::shared_ptr<const DrawnWorld> world;  ///< the source of its times
  int ranks = 1;
  int ranks_per_node = 8;
  double clock = 1;             ///< of the multiprocessors, as a share of the highest
  int host_cores = 16;          ///< per rank
  bool tf32_forbidden = false;  ///< by NVIDIA_TF32_OVERRIDE
  std::string command;          ///< as typed, for the trace
  std::vector<std::pair<std::string, std::string>> settings;  ///< of the program, by switch
  std::vector<Recording> recordings;  ///< by rank; empty where not requested
  RunResult result;                   ///< of rank 0, on the virtual clock
};

struct SimulationOptions {
  bool record_events = true;  ///< what a profiler would record
  bool record_edges = false;  ///< what no profiler can know: why each op began when it did
};

/// Runs the training that `settings` describe on a virtual clock: the same host program as on any
/// device, once per rank, each on its own thread. The same settings give the same run, to the
/// nanosecond. Throws Error as the training does.
SimulatedRun simulate(const Settings& settings, const TrainingData& data,
                      const SimulationOptions& options, const TrainerHooks& hooks);

/// Writes a run's recordings as trace files: one file for all ranks, or one per rank where the name
/// of `path` contains %r. Existing files are an error. Throws Error when a file cannot be written.
using WriteTrace = std::function<void(const SimulatedRun&, const std::filesystem::path& path)>;

}  // namespace headway::trainer::sim
