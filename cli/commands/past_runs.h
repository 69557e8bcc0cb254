// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/load_and_analyze.h"

namespace headway::cli {

/// A recorded run as one line of `headway history`.
struct PastRun {
  std::filesystem::path file;
  std::int64_t start_utc_ns = 0;
  std::string name;  ///< given by --name, else the command line
  std::string commit;
  std::string command;
  DurationNs step;  ///< step cost; 0 without steps
  std::int64_t steps = 0;
  std::string cause;             ///< title of the first finding
  std::optional<double> change;  ///< relative to the median of the earlier runs; nullopt: none
  std::size_t before = 0;        ///< the number of those earlier runs
  std::string judgement;         ///< "slower", "faster" or empty
};

/// The line for an analysed trace; the name comes from the trace.
PastRun past_run(const std::filesystem::path& file, const Analyzed& analyzed);

/// Reads all traces of a folder, oldest first. `predict` ranks the findings. `name` may contain *
/// and ?; empty: all. Names unreadable files on stderr. Throws Error(kUsage) if the folder does not
/// exist.
std::vector<PastRun> past_runs(const std::filesystem::path& folder, std::string_view name,
                               const AnalysisInput& input,
                               const std::function<void(Analyzed&)>& predict);

/// Compares each run with the median of up to `last` earlier runs of the same name. A run is slower
/// or faster if it is outside the range of those runs and at least 3 % from their median. One
/// earlier run is not enough for a judgement.
void judge_past_runs(std::vector<PastRun>& runs, std::size_t last);

inline constexpr std::size_t kPastRuns = 5;

}  // namespace headway::cli
