// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "collector/record/scope/options.h"
#include "collector/record/supervise.h"

namespace headway::record {

/// What events are stamped with: the processor's counter (12 ns a stamp), or CLOCK_REALTIME (27 ns).
enum class ClockChoice : std::uint8_t { kAuto, kTsc, kRealtime };

/// What is recorded of CUDA. Each more costs the program time and the file room.
struct CudaOptions {
  bool on = true;             ///< false: libcupti is not even loaded
  bool whole_graphs = false;  ///< CUDA graphs as one op each, not node by node
  bool memory = false;        ///< allocations, releases, pools
  bool latency = false;       ///< when kernels were queued and submitted
  bool pauses = false;        ///< of some steps nothing, which tells what recording costs
  bool environment = false;   ///< clocks and temperature, where NVML does not tell them
};

struct RecordOptions {
  std::vector<std::string> command;  ///< program and arguments
  std::filesystem::path output;      ///< empty: the first free of run.sqlite, run-2.sqlite, …
  std::string name;                  ///< what the run is called; empty: nothing
  bool force = false;                ///< overwrite `output`
  bool keep_arguments = false;       ///< store secrets on command lines as they are
  bool quiet = false;                ///< only errors on stderr
  bool live = false;                 ///< somebody else shows how the run goes
  bool suggest_report = true;        ///< the closing summary names the command that comes next
  bool nvtx = true;                  ///< ranges and marks of the program
  bool io = false;                   ///< calls on files
  CudaOptions cuda;
  /// Level of the hooks in PyTorch programs: "off", "on", "ops"; "auto": "on" where the binding is
  /// there, and no word about it when the program imports no torch.
  std::string pytorch = "auto";
  int sample_hz = 10;            ///< 0: no /proc counters
  int counter_hz = 10;           ///< 0: no counters of GPUs
  bool nccl_profiler = false;    ///< NCCL tells size, type and algorithm of each operation
  WaitFor wait = WaitFor::kAll;  ///< when the recording is over
  ClockChoice clock = ClockChoice::kAuto;  ///< kAuto: the counter where it is safe
  ScopeTexts scope;                        ///< what of the run is recorded
  int kill = 0;              ///< signal for the command when the recording ends before it; 0: none
  std::string tool_version;  ///< of headway, for the trace
  /// Called once the command runs and its trace is there; may be empty.
  std::function<void(const std::filesystem::path& trace)> on_begun = {};
  /// Called when the run is over, before anything is said about it; may be empty.
  std::function<void()> on_over = {};
};

struct RecordResult {
  int exit_status = 0;         ///< the command's own: what the caller should exit with
  std::filesystem::path file;  ///< the trace
};

/// Runs the command and records it into a trace. Uses the process's signal mask, its children and stderr, so once
/// per process. Throws Error before the command has been started; afterwards it always returns.
RecordResult record(const RecordOptions& options);

}  // namespace headway::record
