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
  std::string folder_rule;  ///< the rule that it tests
  bool positive = false;    ///< that rule must fire
  Case c;
  std::map<std::string, analyzer::Finding, std::less<>> findings;  ///< by rule
  std::vector<std::string> found;     ///< rules that fired, the gravest first
  std::vector<std::string> mistakes;  ///< sentences; empty: everything as the case says

  bool expects(std::string_view rule) const;
  bool allows(std::string_view rule) const;
};

/// All cases under `root` by name, parsed, not yet checked: RULE/positive|negative/NAME.txt holds one, RULE.txt holds
/// all of a rule, each after a line `=== positive NAME` or `=== negative NAME`. Throws Error(kBadInput) for anything else.
std::vector<CheckedCase> find_cases(const std::filesystem::path& root);
/// Analyses the case and judges what the rules say.
void check_case(CheckedCase& checked);

}  // namespace headway::planted
