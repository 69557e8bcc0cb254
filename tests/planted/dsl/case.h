// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/planted/dsl/statement.h"

namespace headway::planted {

/// A planted-bottleneck case: what is planted, what the rules must say, and the run as a program.
struct Case {
  std::shared_ptr<const std::string> file;  ///< as given, for messages
  std::string plants;                       ///< one or two sentences
  std::vector<std::string> expect;          ///< rules that must be found
  std::vector<std::string> allow;           ///< rules that may be found; all others must not
  std::vector<std::string> cannot_tell;     ///< rules that must answer "cannot tell"
  std::string first;                        ///< the rule that must be the first finding; may be ""
  std::uint64_t seed = 1;
  double jitter = 0.02;  ///< of every duration, unless a statement has its own
  int ranks = 1;         ///< simulated
  int world = 0;         ///< ranks of the job, of which `ranks` are in the trace; 0: the same
  std::vector<Statement> statements;  ///< the machine, the run, the programs
};

/// Throws Error(kBadInput) naming file and line.
Case parse_case(const std::string& file, std::string_view text);
Case read_case(const std::filesystem::path& path);

}  // namespace headway::planted
