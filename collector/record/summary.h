// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/record/rows/process_table.h"
#include "collector/record/rows/trace_sink.h"
#include "collector/record/supervise.h"
#include "common/time.h"

namespace headway::record {

/// The facts for the closing summary.
struct Summary {
  std::string command;  ///< name of the program
  std::filesystem::path file;
  Outcome outcome;
  std::optional<FailedRank> failed_rank;  ///< of a launcher that did not end well
  std::string scope;               ///< which part of the run was chosen, a sentence; empty: all
  DurationNs duration;             ///< of the run, or until the recording was over
  std::optional<DurationNs> kept;  ///< the kept part of it; nullopt: no time is left out
  std::optional<std::int64_t> file_bytes;  ///< nullopt: the file is gone
  std::int64_t events = 0;                 ///< ranges, marks, calls and device ops
  std::int64_t threads = 0;                ///< number that recorded
  std::int64_t injected = 0;               ///< processes that recorded
  std::int64_t processes = 0;              ///< of the tree
  std::map<trace::Loss, std::int64_t> losses;
  std::vector<std::string> refusals;
  std::vector<std::string> without_session;  ///< processes without Headway's environment variables
  std::string failure;                       ///< why rows were not stored; empty: all were stored
  std::int64_t busiest_thread_records = 0;
  double event_cost_ns = 0;  ///< per record
  bool cuda = false;         ///< CUDA work was recorded; no other figure contains its cost
  DurationNs recorder_cpu;
  bool suggest_report = true;  ///< name the command that comes next
  bool nvtx = true;
  bool pytorch = false;                         ///< --pytorch was asked for
  std::map<std::string, std::string> settings;  ///< reported by processes, by name
  std::int64_t io_calls = 0;                    ///< calls on files
};

/// Lines for stderr, each with its line end. Names are escaped for a terminal.
std::string summary_text(const Summary& summary);

/// The line that says why the trace is not complete, printed also with --quiet; empty when it is.
std::string failure_text(const Summary& summary);

}  // namespace headway::record
