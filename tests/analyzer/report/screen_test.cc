// SPDX-License-Identifier: MIT
// The one-screen verdict: it fits, it names the first cause, and a hostile name cannot move the cursor.
#include "analyzer/report/screen.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "analyzer/whatif/predict_findings.h"
#include "common/text.h"
#include "tests/analyzer/planted_run.h"
#include "trace/meta_keys.h"

namespace headway::analyzer {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("the screen of a run with a cause fits and names the rule of the first finding") {
  test::PlantedRun run;
  run.read = 3'000'000;
  run.sync_every_kernel = true;
  test::AnalyzedRun analyzed(run);
  predict_findings(analyzed.trace, analyzed.analysis, {});
  REQUIRE(analyzed.analysis.findings.front().status == Status::kFound);
  for (std::size_t width : {60, 80, 100, 140}) {
    CAPTURE(width);
    const std::string text = render_screen(analyzed.trace, analyzed.analysis, {width, false});
    const std::vector<std::string> lines = lines_of(text);
    CHECK(lines.size() <= kScreenLines);
    for (const std::string& line : lines) CHECK(count_columns(line) <= width);
    CHECK(text.find(analyzed.analysis.findings.front().rule) != std::string::npos);
    CHECK(text.find('\x1b') == std::string::npos);
  }
}

TEST_CASE("colour changes escapes only") {
  test::PlantedRun run;
  run.read = 3'000'000;
  test::AnalyzedRun analyzed(run);
  const std::string plain = render_screen(analyzed.trace, analyzed.analysis, {100, false});
  std::string coloured = render_screen(analyzed.trace, analyzed.analysis, {100, true});
  CHECK(coloured.find("\x1b[1m") != std::string::npos);
  for (std::size_t at; (at = coloured.find('\x1b')) != std::string::npos;)
    coloured.erase(at, coloured.find('m', at) - at + 1);
  CHECK(coloured == plain);
}

TEST_CASE("a healthy run has a verdict and a step, and nothing to change") {
  test::AnalyzedRun analyzed{test::PlantedRun{}};
  REQUIRE(std::none_of(analyzed.analysis.findings.begin(), analyzed.analysis.findings.end(),
                       [](const Finding& f) { return f.status == Status::kFound; }));
  const std::string text = render_screen(analyzed.trace, analyzed.analysis, {100, false});
  CHECK(text.rfind("Verdict", 0) == 0);
  CHECK(text.find("\nStep ") != std::string::npos);
  CHECK(text.find("\nChange ") == std::string::npos);
}

TEST_CASE("the screen of a recording that still runs says so, and all else stays") {
  test::PlantedRun run;
  run.read = 3'000'000;
  test::AnalyzedRun analyzed(run);
  const auto whole = lines_of(render_screen(analyzed.trace, analyzed.analysis, {100, false}));
  analyzed.trace.meta[std::string(trace::meta::kLive)] = "1";
  auto lines = lines_of(render_screen(analyzed.trace, analyzed.analysis, {100, false}));
  const auto said =
      std::ranges::find_if(lines, [](const auto& line) { return line.starts_with("Live "); });
  REQUIRE(said != lines.end());
  lines.erase(said);
  CHECK(lines == whole);
}

TEST_CASE("the present value of a setting is on the screen whole, however long the advice is") {
  test::PlantedRun run;
  run.read = 3'000'000;
  test::AnalyzedRun analyzed(run);
  REQUIRE(!analyzed.analysis.findings.front().advice.empty());
  Advice& advice = analyzed.analysis.findings.front().advice.front();
  advice.knob =
      "DataLoader(num_workers=3, persistent_workers=True, pin_memory=True), or a thread that "
      "prepares the next input, or anything else that takes a long line";
  advice.current = "num_workers=0 batch_size=64 samples=6400 in_memory=True";
  for (const std::size_t width : {60, 80, 110, 220}) {
    CAPTURE(width);
    const std::string text = render_screen(analyzed.trace, analyzed.analysis, {width, false});
    CAPTURE(text);
    CHECK(text.find("(now num_workers=0)\n") != std::string::npos);
    CHECK((text.find(" … (now") != std::string::npos) == (width < 220));
    for (const std::string& line : lines_of(text)) CHECK(count_columns(line) <= width);
  }
}

TEST_CASE("what a recorded program calls itself cannot move the cursor") {
  test::PlantedRun run;
  run.read = 3'000'000;
  test::AnalyzedRun analyzed(run);
  Finding& first = analyzed.analysis.findings.front();
  first.claim = "\x1b[2J" + first.claim;
  REQUIRE(!first.advice.empty());
  first.advice.front().knob = "\x1b[31mknob";
  CHECK(render_screen(analyzed.trace, analyzed.analysis, {100, false}).find('\x1b') ==
        std::string::npos);
}

}  // namespace
}  // namespace headway::analyzer
