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

/// A recorded run in a line, for `headway history`.
struct PastRun {
  std::filesystem::path file;
  std::int64_t start_utc_ns = 0;
  std::string name;  ///< given by --name, else the command line
  std::string commit;
  std::string command;
  DurationNs step;  ///< step cost; 0 without steps
  std::int64_t steps = 0;
  std::string cause;             ///< of the first finding
  std::optional<double> change;  ///< to the median of the runs before it; nullopt without any
  std::size_t before = 0;        ///< so many
  std::string judgement;         ///< "slower", "faster" or nothing
};

/// The run of an analysed trace; its name from the trace.
PastRun past_run(const std::filesystem::path& file, const Analyzed& analyzed);

/// The runs of a folder's traces, oldest first. `predict` ranks the findings; `name` may hold * and ?,
/// empty: all. Says on stderr which files cannot be read. Throws Error(kUsage) without the folder.
std::vector<PastRun> past_runs(const std::filesystem::path& folder, std::string_view name,
                               const AnalysisInput& input,
                               const std::function<void(Analyzed&)>& predict);

/// Compares each run with the median of the `last` ones of its name before it. Slower and faster
/// are those outside of all of these, and 3 % or more from their median; one earlier run is not
/// enough to say.
void judge_past_runs(std::vector<PastRun>& runs, std::size_t last);

inline constexpr std::size_t kPastRuns = 5;

}  // namespace headway::cli
