// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analyzer/model/finding.h"
#include "tests/planted/dsl/case.h"

namespace headway::planted {

/// A case and what the rules said about it.
struct CheckedCase {
  std::string name;         ///< "input-bound/positive/slow_decode"
  std::string folder_rule;  ///< the rule whose folder it is in
  bool positive = false;    ///< in the folder of positives
  Case c;
  std::map<std::string, analyzer::Finding, std::less<>> findings;  ///< by rule
  std::vector<std::string> found;     ///< rules that fired, the gravest first
  std::vector<std::string> mistakes;  ///< sentences; empty: everything as the case says

  bool expects(std::string_view rule) const;
  bool allows(std::string_view rule) const;
};

/// All cases under `root` (RULE/positive|negative/NAME.txt), by name. Throws Error(kBadInput) for
/// folders that hold anything else.
std::vector<std::filesystem::path> find_cases(const std::filesystem::path& root);
CheckedCase check_case(const std::filesystem::path& root, const std::filesystem::path& path);

}  // namespace headway::planted
