// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "analyzer/report/formats.h"
#include "analyzer/whatif/fix.h"

// registry.h uses names that are also enumerators in the header above, which must come first.
#include "analyzer/rules/registry.h"
#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "cli/commands/pager.h"
#include "cli/commands/rule_pages.h"
#include "cli/commands/screen_style.h"
#include "common/error.h"
#include "common/text.h"

namespace headway::cli {
namespace {

/// A paragraph without Markdown marks: removes `*` and backquotes, and the `\` before a character.
std::string plain(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size())
      out += text[++i];
    else if (text[i] != '`' && text[i] != '*')
      out += text[i];
  }
  return out;
}

std::string_view next_paragraph(std::string_view& page) {
  const std::size_t end = std::min(page.find("\n\n"), page.size());
  const std::string_view paragraph = page.substr(0, end);
  page.remove_prefix(std::min(end + 2, page.size()));
  return paragraph;
}

class Text {
 public:
  explicit Text(const analyzer::ScreenOptions& style) : style_(style) {}

  void heading(std::string_view text) {
    out_ += style_.colour ? fmt::format("\033[1m{}\033[0m\n", text) : fmt::format("{}\n", text);
  }
  void paragraph(std::string_view text, std::string_view indent = "  ") {
    out_ += analyzer::wrap_text(text, style_.width, std::string(indent), std::string(indent));
  }
  void gap() { out_ += '\n'; }
  const std::string& str() const { return out_; }

 private:
  analyzer::ScreenOptions style_;
  std::string out_;
};

/// Adds the part of the page before its figures: each paragraph after `**Symptom.**` and the like.
void add_page(Text& text, std::string_view page) {
  page = page.substr(0, page.find("\n\n## "));
  while (page.ends_with('\n')) page.remove_suffix(1);
  next_paragraph(page);  // the title
  while (!page.empty()) {
    std::string_view paragraph = next_paragraph(page);
    if (paragraph.empty() || paragraph.starts_with("<!--")) continue;
    text.gap();
    if (paragraph.starts_with("**")) {
      const std::size_t end = paragraph.find(".**");
      if (end != std::string_view::npos) {
        text.heading(paragraph.substr(2, end - 2));
        paragraph.remove_prefix(std::min(end + 4, paragraph.size()));
      }
      text.paragraph(plain(paragraph));
    } else {
      text.paragraph(plain(paragraph), "");
    }
  }
}

void add_fixes(Text& text, const analyzer::Rule& rule) {
  bool first = true;
  for (const analyzer::Fix* fix : analyzer::all_fixes()) {
    if (!analyzer::answers(*fix, rule.id)) continue;
    text.gap();
    if (first) text.heading("Fixes (headway whatif TRACE predicts their gains)");
    first = false;
    text.paragraph(fmt::format("{}: {}. {}", fix->id, fix->title, fix->change));
    if (!fix->cannot_know.empty())
      text.paragraph(fmt::format("Unknown from any recording: {}", fix->cannot_know), "    ");
    if (!fix->trainer_switch.empty())
      text.paragraph(fmt::format("headway-train: {}", fix->trainer_switch), "    ");
  }
  if (first) {
    text.gap();
    text.paragraph("No fix of this rule can be predicted.", "");
  }
}

class ExplainCommand final : public Command {
 public:
  std::string_view name() const override { return "explain"; }
  std::string_view summary() const override {
    return "Explain a rule: what it looks for, why it costs time, when it is wrong, and how to fix "
           "it";
  }
  std::vector<Example> examples() const override {
    return {{"headway explain", "all rules"}, {"headway explain small-files", "one rule"}};
  }

  void declare(CLI::App& app) override {
    app.add_option("rule", rule_, "Rule id, as in findings; without it: list all")
        ->type_name("RULE");
    declare_pager(app);
  }

  int run() override {
    show("-", rule_.empty() ? list() : page(rule()));
    return exit_status(ExitCode::kOk);
  }

 private:
  const analyzer::Rule& rule() const {
    std::vector<std::string> ids;
    for (const analyzer::Rule* rule : analyzer::all_rules()) {
      if (rule->id == rule_) return *rule;
      ids.emplace_back(rule->id);
    }
    std::string hint;
    for (const std::string& id : closest(rule_, ids, 1))
      hint = fmt::format(" Did you mean '{}'?", id);
    fail_usage("'{}' is not a rule.{} See `headway explain` for all.", escape_terminal(rule_),
               hint);
  }

  static std::string list() {
    std::size_t widest = 0;
    for (const analyzer::Rule* rule : analyzer::all_rules())
      widest = std::max(widest, rule->id.size());
    std::string out;
    for (const analyzer::Rule* rule : analyzer::all_rules())
      out += fmt::format("{:{}}  {}\n", rule->id, widest, rule->title);
    return out;
  }

  static std::string page(const analyzer::Rule& rule) {
    Text text(screen_style());
    text.heading(fmt::format("{} ({})", rule.title, rule.id));
    const auto pages = rule_pages();
    const auto found = std::ranges::find(pages, rule.id, &RulePage::rule);
    if (found == pages.end()) {
      text.gap();
      text.paragraph(rule.fires_on, "");
    } else {
      add_page(text, found->markdown);
    }
    add_fixes(text, rule);
    return text.str();
  }

  std::string rule_;
};

}  // namespace

std::unique_ptr<Command> make_explain_command() {
  return std::make_unique<ExplainCommand>();
}

}  // namespace headway::cli
