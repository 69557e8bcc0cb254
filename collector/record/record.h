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

/// The clock of the events' stamps: the processor's time-stamp counter (12 ns a stamp), or
/// CLOCK_REALTIME (27 ns).
enum class ClockChoice : std::uint8_t { kAuto, kTsc, kRealtime };

/// What is recorded of CUDA. Each option costs the program time and makes the file larger.
struct CudaOptions {
  bool on = true;             ///< false: libcupti is not even loaded
  bool whole_graphs = false;  ///< CUDA graphs as one op each, not node by node
  bool memory = false;        ///< allocations, releases, pools
  bool latency = false;       ///< when kernels were queued and submitted
  bool pauses = false;        ///< leaves some steps unrecorded, to measure the cost of recording
  bool environment = false;   ///< clocks and temperature, for when there is no NVML
};

struct RecordOptions {
  std::vector<std::string> command;  ///< program and arguments
  std::filesystem::path output;      ///< empty: first free name of run.sqlite, run-2.sqlite, …
  std::string name;                  ///< name of the run; empty: none
  bool force = false;                ///< overwrite `output`
  bool keep_arguments = false;       ///< store secrets on command lines as they are
  bool quiet = false;                ///< only errors on stderr
  bool live = false;                 ///< another program shows the progress
  bool suggest_report = true;        ///< the closing summary names the command that comes next
  bool nvtx = true;                  ///< ranges and marks of the program
  bool io = false;                   ///< calls on files
  CudaOptions cuda;
  /// Level of the hooks in Python programs: "off", "on", "ops"; "auto": "on" when this build has the
  /// binding, without a message when the program imports no torch.
  std::string pytorch = "auto";
  int sample_hz = 10;            ///< 0: no /proc counters
  int counter_hz = 10;           ///< 0: no counters of GPUs
  bool nccl_profiler = false;    ///< NCCL reports size, type and algorithm of each operation
  WaitFor wait = WaitFor::kAll;  ///< when the recording is over
  ClockChoice clock = ClockChoice::kAuto;  ///< kAuto: the time-stamp counter if it is safe
  ScopeTexts scope;                        ///< which part of the run is recorded
  int kill = 0;              ///< signal for the command if the recording ends before it; 0: none
  std::string tool_version;  ///< of headway, for the trace
  /// Called when the command runs and its trace file exists; may be empty.
  std::function<void(const std::filesystem::path& trace)> on_begun = {};
  /// Called when the run is over, before the summary is printed; may be empty.
  std::function<void()> on_over = {};
};

struct RecordResult {
  int exit_status = 0;         ///< the command's own; the caller should exit with it
  std::filesystem::path file;  ///< the trace
};

/// Runs the command and records it into a trace. Call it once per process: it uses the process's signal mask, its
/// children and stderr. It throws Error only before the command has been started; afterwards it always returns.
RecordResult record(const RecordOptions& options);

}  // namespace headway::record
