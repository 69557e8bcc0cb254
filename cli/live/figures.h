// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/time_class.h"
#include "common/time.h"

namespace headway::cli::live {

enum class Phase : std::uint8_t {
  kWaiting,  ///< there is no trace yet
  kRunning,
  kStalled,  ///< nothing new has been written for a while, but the recorder runs
  kEnded,    ///< the recorder has finished the trace
  kCut,      ///< the recorder is gone and did not finish the trace
  kFailed,   ///< the file is no trace, or cannot be read
};

struct RankStep {
  std::int32_t rank = 0;
  DurationNs step;  ///< over the last steps
};

struct GpuUse {
  std::int32_t device = 0;
  double busy_percent = 0;
  std::int64_t memory_bytes = 0;        ///< 0: not known
  std::int64_t memory_total_bytes = 0;  ///< 0: not known
};

/// Use of the machine; a value is absent if it is not recorded.
struct MachineUse {
  std::optional<double> processes_cpu_percent;  ///< of all recorded processes; 100: one processor
  std::optional<double> machine_cpu_percent;    ///< of all processors
  std::int32_t processors = 0;
  std::optional<std::int64_t> resident_bytes;  ///< of all recorded processes
  std::vector<GpuUse> gpus;
};

/// The result of the report's rules for a part of the run.
struct Cause {
  std::string text;  ///< the first cause with its best fix, or that nothing is worth fixing
  bool found = false;
  TimeNs until;  ///< end of that part
};

/// The figures that are shown while a run goes on.
struct Figures {
  Phase phase = Phase::kWaiting;
  std::string file;
  std::string note;    ///< what went wrong or how the run ended; may be empty
  DurationNs elapsed;  ///< since the recording began
  DurationNs quiet;    ///< since the file was last written

  DurationNs step_now;  ///< step cost over the last steps; without steps: of the span; 0: not known
  std::int64_t steps_now = 0;  ///< number of steps behind `step_now`; 0: there are no steps
  DurationNs step_run;         ///< step cost over the run; 0: not known
  std::int64_t steps_run = 0;  ///< number of steps behind `step_run`
  std::int64_t steps_done = 0;
  bool steps_are_estimated = false;
  std::optional<double> samples_per_s;
  analyzer::ClassTimes classes;  ///< of `step_now`
  std::int32_t rank = -1;        ///< the rank of `step_now` and `classes`; -1: there is only one
  std::vector<RankStep> ranks;   ///< by rank, if there are several
  std::int64_t processes = 0;

  MachineUse machine;
  std::int64_t dropped = 0;  ///< events that could not be recorded
  std::optional<Cause> cause;
};

}  // namespace headway::cli::live
