// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "tests/planted/quality/check_case.h"

namespace headway::planted {

/// How one rule did over all cases. Cases in which it may fire but need not count in none of the
/// four.
struct Score {
  std::string rule;
  int positive_cases = 0;  ///< in the rule's own folder
  int negative_cases = 0;
  int true_positives = 0;
  int false_positives = 0;
  int true_negatives = 0;
  int false_negatives = 0;
  int cannot_tell = 0;

  double precision() const;  ///< 1 when it never fired
  double recall() const;     ///< 1 when it never should have
};

/// One per rule, in the order of all_rules().
std::vector<Score> score(const std::vector<CheckedCase>& cases);
/// A Markdown table.
std::string score_table(const std::vector<Score>& scores);

}  // namespace headway::planted
