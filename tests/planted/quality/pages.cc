// SPDX-License-Identifier: MIT
#include "tests/planted/quality/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "analyzer/rules/registry.h"
#include "common/error.h"

namespace headway::planted {
namespace {

constexpr std::array<std::string_view, 6> kParts = {
    "Symptom", "Mechanism", "Formula", "Falsified by", "Known false positives", "Source"};
constexpr std::string_view kMade =
    "<!-- Made by scripts/update_reference.sh from the rule's source and its cases. -->\n\n";

/// The head comment of a rule's source as a list of "part -> text".
std::map<std::string, std::string> head_comment(const std::filesystem::path& source) {
  std::ifstream in(source);
  if (!in) fail_input("{}: cannot be read; expected the source of the rule", source.string());
  std::map<std::string, std::string> parts;
  std::string* current = nullptr;
  std::string line;
  while (std::getline(in, line) && line.starts_with("//")) {
    line.erase(0, line.starts_with("// ") ? 3 : 2);
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    for (std::string_view part : kParts) {
      if (!line.starts_with(part) || line.substr(part.size(), 1) != ":") continue;
      current = &parts[std::string(part)];
      line.erase(0, std::min(part.size() + 2, line.size()));
      break;
    }
    if (current && !line.empty()) *current += (current->empty() ? "" : " ") + line;
  }
  for (std::string_view part : kParts) {
    if (parts[std::string(part)].empty())
      fail_input("{}: its head comment lacks '{}: …'", source.string(), part);
  }
  return parts;
}

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// '<', '>', '|' and '*' as text: comments are prose, not markup.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '<' || c == '>' || c == '|' || c == '*' || c == '_') out += '\\';
    out += c;
  }
  return out;
}

std::string case_list(const std::vector<CheckedCase>& cases, std::string_view rule, bool positive) {
  std::string text;
  for (const CheckedCase& checked : cases) {
    if (checked.folder_rule != rule || checked.positive != positive) continue;
    text += fmt::format("- `{}`: {}\n", checked.name.substr(checked.name.rfind('/') + 1),
                        escaped(checked.c.plants));
  }
  return text.empty() ? "none\n" : text;
}

std::string rule_page(const analyzer::Rule& rule, const std::vector<CheckedCase>& cases,
                      const Score& score, const std::filesystem::path& sources) {
  std::string file(rule.id);
  std::replace(file.begin(), file.end(), '-', '_');
  std::map<std::string, std::string> parts = head_comment(sources / (file + ".cc"));
  std::string text =
      fmt::format("# {} (`{}`)\n\n{}{}\n\n", rule.title, rule.id, kMade, escaped(rule.fires_on));
  for (std::string_view part : kParts) {
    text += fmt::format("**{}.** {}\n\n", part, escaped(capitalised(parts[std::string(part)])));
  }
  text += fmt::format(
      "## Planted cases\n\nRegression tests in `tests/planted/cases/{}`. Over the cases of all "
      "rules this rule fired wrongly in {} and stayed silent wrongly in {}. On programs that "
      "nobody chose: [accuracy](../accuracy.md).\n\n",
      rule.id, score.false_positives, score.false_negatives);
  text += "### Must fire\n\n" + case_list(cases, rule.id, true);
  text += "\n### Must stay quiet\n\n" + case_list(cases, rule.id, false);
  return text;
}

/// Where the quality of rules is measured, and how many planted cases each has.
std::string quality_page(const std::vector<CheckedCase>& cases, const std::vector<Score>& scores) {
  int wrong = 0;
  std::string rows = "| rule | must fire | must stay quiet |\n| --- | --- | --- |\n";
  for (const Score& s : scores) {
    wrong += s.false_positives + s.false_negatives;
    rows +=
        fmt::format("| [{0}]({0}.md) | {1} | {2} |\n", s.rule, s.positive_cases, s.negative_cases);
  }
  return fmt::format(
      "# How good the rules are\n\n{}[Accuracy](../accuracy.md) measures the rules on random "
      "programs that nobody chose: false findings, silent losses, and the gain of each rule's "
      "advice.\n\nThis page counts the planted cases (`tests/planted/cases/`). They are "
      "regression tests, not a measure of quality: each case states which rules must fire and "
      "which may. All rules run over all {} cases; {} answers are wrong. `headway_rule_quality "
      "tests/planted/cases` prints the details.\n\n{}",
      kMade, cases.size(), wrong, rows);
}

}  // namespace

std::map<std::string, std::string> make_pages(const std::vector<CheckedCase>& cases,
                                              const std::vector<Score>& scores,
                                              const std::filesystem::path& sources) {
  std::map<std::string, std::string> pages;
  pages["quality.md"] = quality_page(cases, scores);
  auto rules = analyzer::all_rules();
  for (std::size_t i = 0; i < rules.size(); ++i)
    pages[std::string(rules[i]->id) + ".md"] = rule_page(*rules[i], cases, scores[i], sources);
  return pages;
}

}  // namespace headway::planted
