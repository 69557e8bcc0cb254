// SPDX-License-Identifier: MIT
#include "tests/planted/quality/check_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "analyzer/job/analyze_job.h"
#include "analyzer/rules/registry.h"
#include "common/error.h"
#include "tests/planted/dsl/assemble.h"

namespace headway::planted {
namespace {

namespace fs = std::filesystem;
using analyzer::Finding;
using analyzer::Status;

bool contains(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool is_rule(std::string_view id) {
  auto rules = analyzer::all_rules();
  return std::any_of(rules.begin(), rules.end(),
                     [&](const analyzer::Rule* rule) { return rule->id == id; });
}

void require_known_rules(const Case& c) {
  // `allow` may name a rule that is yet to come: a case must not break when it does.
  for (const auto* list : {&c.expect, &c.cannot_tell}) {
    for (const std::string& rule : *list) {
      if (!is_rule(rule)) fail_input("{}: there is no rule '{}'", *c.file, rule);
    }
  }
}

/// The head of a case must agree with its folder.
void require_fitting_folder(const CheckedCase& checked) {
  bool named = checked.positive
                   ? contains(checked.c.expect, checked.folder_rule)
                   : !checked.expects(checked.folder_rule) && !checked.allows(checked.folder_rule);
  if (named) return;
  fail_input("{}: is a {} case of '{}', so its 'expect:' {} name it", *checked.c.file,
             checked.positive ? "positive" : "negative", checked.folder_rule,
             checked.positive ? "must" : "and 'allow:' must not");
}

void judge(CheckedCase& checked) {
  const Case& c = checked.c;
  for (const auto& [rule, finding] : checked.findings) {
    bool found = finding.status == Status::kFound;
    if (checked.expects(rule) && !found) {
      checked.mistakes.push_back(fmt::format("{} does not fire; it says {}: {}", rule,
                                             status_id(finding.status), finding.claim));
    } else if (found && !checked.expects(rule) && !checked.allows(rule)) {
      checked.mistakes.push_back(fmt::format("{} must not fire; it says: {}", rule, finding.claim));
    } else if (contains(c.cannot_tell, rule) && finding.status != Status::kCannotTell) {
      checked.mistakes.push_back(fmt::format("{} cannot know; it says {}: {}", rule,
                                             status_id(finding.status), finding.claim));
    }
  }
  if (!c.first.empty() && (checked.found.empty() || checked.found.front() != c.first)) {
    checked.mistakes.push_back(fmt::format("the first finding must be {}; found are: {}", c.first,
                                           fmt::join(checked.found, ", ")));
  }
}

}  // namespace

bool CheckedCase::expects(std::string_view rule) const {
  return contains(c.expect, rule);
}
bool CheckedCase::allows(std::string_view rule) const {
  return contains(c.allow, rule);
}

std::vector<fs::path> find_cases(const fs::path& root) {
  if (!fs::is_directory(root))
    fail_input("{}: is no folder; expected RULE/positive|negative/NAME.txt under it",
               root.string());
  std::vector<fs::path> cases;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_directory()) continue;
    fs::path relative = entry.path().lexically_relative(root);
    std::vector<std::string> parts;
    for (const fs::path& part : relative) parts.push_back(part.string());
    bool fits = parts.size() == 3 && (parts[1] == "positive" || parts[1] == "negative") &&
                entry.path().extension() == ".txt" && is_rule(parts[0]);
    if (!fits) {
      fail_input("{}: expected RULE/positive|negative/NAME.txt with a known rule",
                 entry.path().string());
    }
    cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

CheckedCase check_case(const fs::path& root, const fs::path& path) {
  CheckedCase checked;
  fs::path relative = path.lexically_relative(root);
  checked.folder_rule = relative.begin()->string();
  checked.positive = std::next(relative.begin())->string() == "positive";
  checked.name = (relative.parent_path() / relative.stem()).generic_string();
  checked.c = read_case(path);
  require_known_rules(checked.c);
  require_fitting_folder(checked);
  std::unique_ptr<analyzer::JobReport> report = analyzer::analyze_ranks(make_trace(checked.c));
  for (Finding& finding : report->analysis.findings) {
    if (finding.status == Status::kFound) checked.found.emplace_back(finding.rule);
    checked.findings.emplace(std::string(finding.rule), finding);
  }
  judge(checked);
  return checked;
}

}  // namespace headway::planted
