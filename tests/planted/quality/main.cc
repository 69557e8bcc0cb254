// SPDX-License-Identifier: MIT
// headway_rule_quality: runs every planted case through the analysis and says how each rule did.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "common/error.h"
#include "tests/planted/quality/pages.h"

namespace {

using namespace headway;
using namespace headway::planted;
namespace fs = std::filesystem;

constexpr std::string_view kUsage =
    R"(Usage: headway_rule_quality CASES [--only TEXT] [--verbose]
                            [--sources FOLDER (--write FOLDER | --check FOLDER)]
Runs all planted cases under CASES and prints how each rule did. Exit code 1 when an expected rule
does not fire or a forbidden one does.
  --only TEXT      only cases whose name contains TEXT
  --verbose        for each case also what every rule found
  --sources FOLDER where the sources of the rules are (analyzer/rules)
  --write FOLDER   writes the pages of docs/rules; --check only compares
)";

struct Options {
  std::string cases;
  std::string only;
  std::string sources;
  std::string write;
  std::string check;
  bool verbose = false;
};

Options read_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    std::string* value = argument == "--only"      ? &options.only
                         : argument == "--sources" ? &options.sources
                         : argument == "--write"   ? &options.write
                         : argument == "--check"   ? &options.check
                                                   : nullptr;
    if (value) {
      if (++i == arguments.size()) fail_usage("{} needs a value.\n{}", argument, kUsage);
      *value = arguments[i];
    } else if (argument == "--verbose") {
      options.verbose = true;
    } else if (argument.starts_with("-") || !options.cases.empty()) {
      fail_usage("unknown argument '{}'.\n{}", argument, kUsage);
    } else {
      options.cases = argument;
    }
  }
  if (options.cases.empty()) fail_usage("no folder of cases is given.\n{}", kUsage);
  return options;
}

std::string read_text(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Writes the pages, or counts those that differ.
int handle_pages(const Options& options, const std::map<std::string, std::string>& pages) {
  int stale = 0;
  fs::path folder = options.check.empty() ? options.write : options.check;
  for (const auto& [name, text] : pages) {
    if (options.check.empty()) {
      fs::create_directories(folder);
      std::ofstream out(folder / name);
      out << text;
      if (!out.flush()) fail_input("{}: cannot be written", (folder / name).string());
    } else if (read_text(folder / name) != text) {
      fmt::print("{} is out of date: run scripts/update_reference.sh\n", (folder / name).string());
      ++stale;
    }
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (pages.contains(entry.path().filename().string())) continue;
    fmt::print("{}: belongs to no rule; remove it\n", entry.path().string());
    ++stale;
  }
  return stale;
}

void print_case(const CheckedCase& checked, bool verbose) {
  if (verbose || !checked.mistakes.empty()) fmt::print("{}\n", checked.name);
  for (const std::string& mistake : checked.mistakes) fmt::print("  WRONG {}\n", mistake);
  if (!verbose) return;
  for (const auto& [rule, finding] : checked.findings)
    fmt::print("  {} {}: {}\n", rule, analyzer::status_id(finding.status), finding.claim);
}

int run(const Options& options) {
  std::vector<CheckedCase> cases;
  int wrong = 0;
  for (CheckedCase& checked : find_cases(options.cases)) {
    if (checked.name.find(options.only) == std::string::npos) continue;
    check_case(checked);
    cases.push_back(std::move(checked));
    wrong += !cases.back().mistakes.empty();
    print_case(cases.back(), options.verbose);
  }
  std::vector<Score> scores = score(cases);
  int stale = 0;
  if (options.write.empty() && options.check.empty()) {
    fmt::print("{}\n{} cases, {} with mistakes\n", score_table(scores), cases.size(), wrong);
  } else {
    if (options.sources.empty() || !options.only.empty())
      fail_usage("--write and --check need --sources and all cases.\n{}", kUsage);
    stale = handle_pages(options, make_pages(cases, scores, options.sources));
  }
  return wrong || stale ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(read_options({argv + 1, argv + argc}));
  } catch (const Error& error) {
    fmt::print(stderr, "headway_rule_quality: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
