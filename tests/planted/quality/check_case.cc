// SPDX-License-Identifier: MIT
#include "tests/planted/quality/check_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <sstream>

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

constexpr std::string_view kLayout =
    "RULE.txt with sections '=== positive|negative NAME', or RULE/positive|negative/NAME.txt";

bool is_kind(std::string_view text) {
  return text == "positive" || text == "negative";
}

CheckedCase make_case(const std::string& rule, const std::string& kind, const std::string& name,
                      Case c) {
  CheckedCase checked;
  checked.name = fmt::format("{}/{}/{}", rule, kind, name);
  checked.folder_rule = rule;
  checked.positive = kind == "positive";
  checked.c = std::move(c);
  return checked;
}

/// Adds the cases of a file with sections.
void add_sections(const fs::path& path, std::vector<CheckedCase>& cases) {
  std::ifstream in(path);
  std::string line, kind, name, text;
  int number = 0;
  auto finish = [&] {
    if (kind.empty()) return;
    cases.push_back(make_case(path.stem().string(), kind, name, parse_case(path.string(), text)));
  };
  while (std::getline(in, line)) {
    ++number;
    if (!line.starts_with("=== ")) {
      if (kind.empty() && !line.empty())
        fail_input("{}:{}: expected '=== positive NAME' or '=== negative NAME'", path.string(),
                   number);
      text += line + "\n";
      continue;
    }
    finish();
    std::istringstream words(line.substr(4));
    name.clear();
    words >> kind >> name;
    if (!is_kind(kind) || name.empty())
      fail_input("{}:{}: expected '=== positive NAME' or '=== negative NAME'", path.string(),
                 number);
    // Empty lines in place of those before it, so that messages name the line of the file.
    text.assign(static_cast<std::size_t>(number), '\n');
  }
  finish();
}

}  // namespace

bool CheckedCase::expects(std::string_view rule) const {
  return contains(c.expect, rule);
}
bool CheckedCase::allows(std::string_view rule) const {
  return contains(c.allow, rule);
}

std::vector<CheckedCase> find_cases(const fs::path& root) {
  if (!fs::is_directory(root))
    fail_input("{}: is not a folder; expected {} in it", root.string(), kLayout);
  std::vector<CheckedCase> cases;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_directory()) continue;
    const fs::path relative = entry.path().lexically_relative(root);
    const std::vector<std::string> parts(relative.begin(), relative.end());
    const bool whole_rule = parts.size() == 1;
    const bool fits = (whole_rule || (parts.size() == 3 && is_kind(parts[1]))) &&
                      entry.path().extension() == ".txt" &&
                      is_rule(whole_rule ? relative.stem().string() : parts[0]);
    if (!fits) fail_input("{}: expected {}, with a known rule", entry.path().string(), kLayout);
    if (whole_rule)
      add_sections(entry.path(), cases);
    else
      cases.push_back(
          make_case(parts[0], parts[1], relative.stem().string(), read_case(entry.path())));
  }
  std::ranges::sort(cases, {}, &CheckedCase::name);
  return cases;
}

void check_case(CheckedCase& checked) {
  require_known_rules(checked.c);
  require_fitting_folder(checked);
  std::unique_ptr<analyzer::JobReport> report = analyzer::analyze_ranks(make_trace(checked.c));
  for (Finding& finding : report->analysis.findings) {
    if (finding.status == Status::kFound) checked.found.emplace_back(finding.rule);
    checked.findings.emplace(std::string(finding.rule), finding);
  }
  judge(checked);
}

}  // namespace headway::planted
