// SPDX-License-Identifier: MIT
#include "tests/planted/quality/score.h"

#include <fmt/format.h>

#include "analyzer/rules/registry.h"

namespace headway::planted {
namespace {

double share(int part, int other) {
  return part + other == 0 ? 1 : static_cast<double>(part) / (part + other);
}

}  // namespace

double Score::precision() const {
  return share(true_positives, false_positives);
}
double Score::recall() const {
  return share(true_positives, false_negatives);
}

std::vector<Score> score(const std::vector<CheckedCase>& cases) {
  std::vector<Score> scores;
  for (const analyzer::Rule* rule : analyzer::all_rules()) {
    Score s;
    s.rule = rule->id;
    for (const CheckedCase& checked : cases) {
      if (checked.folder_rule == s.rule) ++(checked.positive ? s.positive_cases : s.negative_cases);
      auto answer = checked.findings.find(s.rule);
      if (answer == checked.findings.end()) continue;
      bool found = answer->second.status == analyzer::Status::kFound;
      s.cannot_tell += answer->second.status == analyzer::Status::kCannotTell;
      if (checked.expects(s.rule)) {
        ++(found ? s.true_positives : s.false_negatives);
      } else if (!checked.allows(s.rule)) {
        ++(found ? s.false_positives : s.true_negatives);
      }
    }
    scores.push_back(std::move(s));
  }
  return scores;
}

std::string score_table(const std::vector<Score>& scores) {
  std::string text =
      "| rule | own cases (+/-) | fired rightly | fired wrongly | silent rightly | silent wrongly "
      "| "
      "cannot tell | precision | recall |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Score& s : scores) {
    text += fmt::format("| {} | {}/{} | {} | {} | {} | {} | {} | {:.0f} % | {:.0f} % |\n", s.rule,
                        s.positive_cases, s.negative_cases, s.true_positives, s.false_positives,
                        s.true_negatives, s.false_negatives, s.cannot_tell, 100 * s.precision(),
                        100 * s.recall());
  }
  return text;
}

}  // namespace headway::planted
