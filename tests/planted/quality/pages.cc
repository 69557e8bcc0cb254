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
      "## Measured\n\nOver all planted cases: precision {:.0f} %, recall {:.0f} % (fired rightly "
      "{}, "
      "wrongly {}; silent rightly {}, wrongly {}; cannot tell {}).\n\n",
      100 * score.precision(), 100 * score.recall(), score.true_positives, score.false_positives,
      score.true_negatives, score.false_negatives, score.cannot_tell);
  text += "### Must fire\n\n" + case_list(cases, rule.id, true);
  text += "\n### Must stay quiet\n\n" + case_list(cases, rule.id, false);
  text += fmt::format(
      "\nThe cases are in `tests/planted/cases/{}/`; all rules: [quality.md](quality.md).\n",
      rule.id);
  return text;
}

}  // namespace

std::map<std::string, std::string> make_pages(const std::vector<CheckedCase>& cases,
                                              const std::vector<Score>& scores,
                                              const std::filesystem::path& sources) {
  std::map<std::string, std::string> pages;
  pages["quality.md"] = fmt::format(
      "# How good the rules are\n\n{}Each rule is run over {} planted runs "
      "(`tests/planted/cases/`), "
      "those of the other rules included. A case says which rules must fire and which may; the "
      "rest "
      "must not. `headway_rule_quality tests/planted/cases` prints this table.\n\n{}",
      kMade, cases.size(), score_table(scores, true));
  auto rules = analyzer::all_rules();
  for (std::size_t i = 0; i < rules.size(); ++i)
    pages[std::string(rules[i]->id) + ".md"] = rule_page(*rules[i], cases, scores[i], sources);
  return pages;
}

}  // namespace headway::planted
