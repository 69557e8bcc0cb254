// SPDX-License-Identifier: MIT
#include "analyzer/report/report.h"

#include <doctest/doctest.h>

#include <clocale>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/analyzer/planted_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedRun;
using test::PlantedRun;

const ReportOptions kOptions = {.tool_version = "0.0.0-test", .max_rows = 15, .text_width = 110};

AnalyzedRun golden_run() {
  test::TraceBuilder builder;
  PlantedRun{.read = 600'000, .decode = 200'000, .copy = 30'000}.build(builder);
  builder.setting("workers", "1");
  builder.writer().set_meta("command", "train --data 'a b'");
  AnalyzedRun run(builder);
  run.trace.path = "planted.sqlite";
  return run;
}

/// Compares with tests/data/golden/<name>; HEADWAY_UPDATE_GOLDEN=1 rewrites it instead.
void check_golden(const std::string& name, const std::string& actual) {
  std::string path = std::string(HEADWAY_SOURCE_DIR "/tests/data/golden/") + name;
  if (std::getenv("HEADWAY_UPDATE_GOLDEN")) {
    std::ofstream(path, std::ios::binary) << actual;
    MESSAGE("rewrote " << path);
    return;
  }
  std::ostringstream expected;
  expected << std::ifstream(path, std::ios::binary).rdbuf();
  CHECK_MESSAGE(expected.str() == actual,
                path << " differs; look at the change, then run with HEADWAY_UPDATE_GOLDEN=1");
}

}  // namespace

TEST_CASE("reports of a planted run are what was looked at and accepted") {
  AnalyzedRun run = golden_run();
  check_golden("planted.txt", render(ReportFormat::kText, run.trace, run.analysis, kOptions));
  check_golden("planted.md", render(ReportFormat::kMarkdown, run.trace, run.analysis, kOptions));
  check_golden("planted.json", render(ReportFormat::kJson, run.trace, run.analysis, kOptions));
  check_golden("planted.html", render(ReportFormat::kHtml, run.trace, run.analysis, kOptions));
}

TEST_CASE("reports are the same bytes in any locale") {
  AnalyzedRun run = golden_run();
  std::string before = render(ReportFormat::kHtml, run.trace, run.analysis, kOptions);
  const char* set = std::setlocale(LC_ALL, "de_DE.UTF-8");
  if (!set) set = std::setlocale(LC_ALL, "C.UTF-8");
  REQUIRE(set);
  std::string after = render(ReportFormat::kHtml, run.trace, run.analysis, kOptions);
  std::setlocale(LC_ALL, "C");
  CHECK(before == after);
}

TEST_CASE("the JSON report has the documented keys and sums that hold") {
  AnalyzedRun run = golden_run();
  auto json = nlohmann::json::parse(render(ReportFormat::kJson, run.trace, run.analysis, kOptions));
  CHECK(json["schema_version"] == 1);
  for (const char* key : {"trace", "device_view", "steps", "partition", "ops", "kernels",
                          "collectives", "findings", "doubts", "verdict"}) {
    CAPTURE(key);
    CHECK(json.contains(key));
  }
  std::int64_t sum = 0;
  for (const auto& [id, time] : json["partition"][0]["classes"].items())
    sum += time["ns_per_step"].get<std::int64_t>();
  CHECK(sum == json["partition"][0]["ns_per_step"].get<std::int64_t>());
  const auto& view = json["device_view"][0];
  CHECK(view["compute_ns"].get<std::int64_t>() + view["exposed_comm_ns"].get<std::int64_t>() +
            view["exposed_copy_ns"].get<std::int64_t>() + view["idle_ns"].get<std::int64_t>() ==
        view["span_ns"].get<std::int64_t>());
  CHECK(json["findings"][0]["rule"] == "input-bound");
  CHECK(json["findings"][0]["status"] == "found");
}

TEST_CASE("hostile names come out inert in every format") {
  test::TraceBuilder builder;
  const std::string hostile =
      "<script>alert(1)</script>|`x`\x1b[2J\"); DROP TABLE StringIds;--\n# heading";
  for (int i = 0; i < 8; ++i) {
    std::int64_t t = i * 10'000;
    builder.range(1, "step", t, t + 9'000, {.kind = trace::RangeKind::kStep, .step = i});
    builder.range(1, hostile, t, t + 50);
    builder.launch(1, t, t + 5, t + 10, t + 5'000, {.name = hostile});
  }
  builder.thread_name(1, hostile);
  builder.writer().set_meta("command", hostile);
  AnalyzedRun run(builder);
  std::string html = render(ReportFormat::kHtml, run.trace, run.analysis, kOptions);
  CHECK(html.find("<script") == std::string::npos);
  CHECK(html.find('\x1b') == std::string::npos);
  std::string text = render(ReportFormat::kText, run.trace, run.analysis, kOptions);
  CHECK(text.find('\x1b') == std::string::npos);
  std::string markdown = render(ReportFormat::kMarkdown, run.trace, run.analysis, kOptions);
  CHECK(markdown.find("<script") == std::string::npos);
  CHECK(markdown.find("\n# heading") == std::string::npos);
  CHECK(nlohmann::json::accept(render(ReportFormat::kJson, run.trace, run.analysis, kOptions)));
}

TEST_CASE("a run that was killed says so before anything else") {
  test::TraceBuilder builder;
  PlantedRun{}.build(builder);
  builder.open_range(1, "step", 30'000'000, {.kind = trace::RangeKind::kStep});
  builder.process_killed(9, 31'000'000);
  AnalyzedRun run(builder);
  REQUIRE(!run.analysis.doubts.empty());
  CHECK(run.analysis.doubts[0].severity == "loss");
  CHECK(run.analysis.doubts[0].text.find("was ended by SIGKILL") != std::string::npos);
  std::string text = render(ReportFormat::kText, run.trace, run.analysis, kOptions);
  CHECK(text.find("SIGKILL") < text.find("Verdict"));
}

TEST_CASE("the verdict of a run without device work speaks of its training thread") {
  test::TraceBuilder builder;
  for (int i = 0; i < 8; ++i)
    builder.range(1, "step", i * 100, i * 100 + 90, {.kind = trace::RangeKind::kStep});
  AnalyzedRun run(builder);
  CHECK(verdict(run.trace, run.analysis).find("The training thread computes") != std::string::npos);
}

}  // namespace headway::analyzer
