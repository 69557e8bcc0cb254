// SPDX-License-Identifier: MIT
#include "analyzer/report/report.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <locale>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analyzer/doubts.h"
#include "analyzer/samples.h"
#include "analyzer/whatif/fix.h"
#include "analyzer/whatif/predict_findings.h"
#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/text_run.h"
#include "trace/meta_keys.h"

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

namespace {

/// Numbers as in German: what a program's global locale may do to careless formatting.
struct GermanNumbers : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

std::vector<std::string> all_formats(const AnalyzedRun& run) {
  std::vector<std::string> out;
  for (const std::string& name : report_format_names())
    out.push_back(render(*report_format(name), run.trace, run.analysis, kOptions));
  return out;
}

}  // namespace

TEST_CASE("reports are the same bytes in any locale and time zone") {
  AnalyzedRun run = golden_run();
  run.trace.start_utc_ns = 1'700'000'000'000'000'000;
  std::vector<std::string> before = all_formats(run);
  const char* zone = std::getenv("TZ");
  std::string old_zone = zone ? zone : "";
  ::setenv("TZ", "Asia/Kolkata-5:30", 1);
  ::tzset();
  std::locale old = std::locale::global(std::locale(std::locale::classic(), new GermanNumbers));
  if (!std::setlocale(LC_ALL, "de_DE.UTF-8")) std::setlocale(LC_ALL, "C.UTF-8");
  std::vector<std::string> after = all_formats(run);
  std::setlocale(LC_ALL, "C");
  std::locale::global(old);
  zone ? ::setenv("TZ", old_zone.c_str(), 1) : ::unsetenv("TZ");
  ::tzset();
  CHECK(before == after);
  CHECK(before[0].find("2023-11-14 22:13:20 UTC") != std::string::npos);
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

TEST_CASE(
    "what recording CUDA costs a program of many launches is told, and not where kernels hide it") {
  const auto told = [](const std::string& steps, bool recorded_by_cupti) {
    TextRun run("thread main\n" + steps);
    if (recorded_by_cupti) run.trace.meta[std::string(trace::meta::kCuda)] = "on: CUPTI 130001";
    for (const Doubt& doubt : find_doubts(run.trace, run.analysis))
      if (doubt.text.find("with 51 calls per step that is 153 µs to 510 µs of") !=
          std::string::npos)
        return true;
    return false;
  };
  const std::string launches =
      "  steps 12\n    repeat 50\n      host 20us\n      launch add 2us\n    sync stream\n";
  const std::string kernels =
      "  steps 12\n    repeat 50\n      host 4us\n      launch gemm 300us\n    sync stream\n";
  CHECK(told(launches, true));
  CHECK_FALSE(told(launches, false));
  CHECK_FALSE(told(kernels, true));
}

TEST_CASE("a run whose device records were all lost is not called healthy") {
  TextRun run("thread main\n  steps 12\n    host 5ms\n");
  CHECK(verdict(run.trace, run.analysis).find("lost") == std::string::npos);
  run.trace.losses.push_back({"cupti_dropped", "loss", "CUDA records were lost.", 1});
  CHECK(verdict(run.trace, run.analysis).starts_with("Cannot tell: CUDA was recorded"));
}

TEST_CASE("a program that ends before its first step is not called healthy") {
  test::TraceBuilder builder;
  builder.range(1, "nn.Module: Net", 1'000'000, 273'000'000,
                {.kind = trace::RangeKind::kPhase, .phase = trace::Phase::kForward});
  const trace::Trace trace = builder.load();
  CHECK(verdict(trace, analyze(trace)).starts_with("Cannot tell: no training step"));
}

TEST_CASE("samples are those of all ranks that are seen, where nothing tells how many there are") {
  TextRun run("setting batch 8\nthread main\n  steps 12\n    host 5ms\n");
  const RangeNames names(run.trace);
  CHECK(samples_per_step(run.trace, names, run.analysis.steps) == 8);
  CHECK(samples_per_step(run.trace, names, run.analysis.steps, 4) == 32);
  run.trace.world_size = 16;
  CHECK(samples_per_step(run.trace, names, run.analysis.steps, 4) == 128);
}

TEST_CASE("processes and threads that are alike are one doubt, however many") {
  test::TraceBuilder builder;
  for (int i = 0; i < 8; ++i)
    builder.range(1, "step", i * 100, i * 100 + 90, {.kind = trace::RangeKind::kStep});
  AnalyzedRun run(builder);
  REQUIRE(run.analysis.partitions.size() == 1);
  for (int i = 0; i < 39; ++i) {
    trace::Process process = run.trace.processes.front();
    process.pid = 1000 + i;
    process.signal = i % 2 ? 15 : 9;
    run.trace.processes.push_back(process);
    run.analysis.partitions.push_back(run.analysis.partitions.front());
  }
  auto doubts_with = [&](std::string_view part) {
    std::vector<std::string> found;
    for (const Doubt& doubt : find_doubts(run.trace, run.analysis)) {
      if (doubt.text.find(part) != std::string::npos) found.push_back(doubt.text);
    }
    return found;
  };
  REQUIRE(doubts_with("SIGTERM").size() == 1);
  CHECK(doubts_with("SIGTERM").front().find(" and 16 more were ended") != std::string::npos);
  CHECK(doubts_with("SIGKILL").size() == 1);
  REQUIRE(doubts_with("no device work").size() == 1);
  CHECK(doubts_with("no device work").front().find("and 37 more") != std::string::npos);
}

TEST_CASE("the verdict of a run without device work speaks of its training thread") {
  test::TraceBuilder builder;
  for (int i = 0; i < 8; ++i)
    builder.range(1, "step", i * 100, i * 100 + 90, {.kind = trace::RangeKind::kStep});
  AnalyzedRun run(builder);
  CHECK(verdict(run.trace, run.analysis).find("The training thread computes") != std::string::npos);
}

/// Adds 40 steps of 10 ms, of which each makes its own batch for 6 ms.
void make_batches(test::TraceBuilder& builder) {
  for (int i = 0; i < 40; ++i) {
    const std::int64_t t = i * 10'000'000;
    builder.range(1, "step", t, t + 10'000'000, {.kind = trace::RangeKind::kStep, .step = i});
    builder.range(1, "batch", t, t + 6'000'000, {.kind = trace::RangeKind::kBatch, .batch = i});
    builder.range(1, "conv2d", t + 6'000'000, t + 10'000'000);
  }
}

TEST_CASE("the JSON report lists every known fix, with figures where it applies") {
  test::TraceBuilder builder;
  make_batches(builder);
  AnalyzedRun run(builder);
  const auto fixes = [&] {
    return nlohmann::json::parse(
        render(ReportFormat::kJson, run.trace, run.analysis, kOptions))["fixes"];
  };
  CHECK(fixes().empty());  // nothing was predicted
  predict_findings(run.trace, run.analysis, {});
  REQUIRE(!run.analysis.fixes.empty());
  CHECK(fixes().size() == all_fixes().size());
  std::size_t applying = 0;
  for (const nlohmann::json& one : fixes()) {
    const auto its =
        std::ranges::find(run.analysis.fixes, one["fix"].get<std::string>(), &PredictedGain::fix);
    CHECK(one["applies"] == (its != run.analysis.fixes.end()));
    CHECK(one["step_ns"].is_null() == !one["applies"].get<bool>());
    if (its == run.analysis.fixes.end()) continue;
    ++applying;
    CHECK(one["step_ns"] == its->step.ns);
    CHECK(one["share"] == its->share);
    CHECK(one["recorded_step_ns"] == 10'000'000);
  }
  CHECK(applying == run.analysis.fixes.size());
}

TEST_CASE("the verdict is as sure as the gain of its first finding") {
  test::TraceBuilder builder;
  make_batches(builder);
  AnalyzedRun run(builder);
  predict_findings(run.trace, run.analysis, {});
  Finding& first = run.analysis.findings.front();
  REQUIRE(first.status == Status::kFound);
  REQUIRE(first.predicted);
  CHECK(first.predicted->surety == GainSurety::kSure);
  CHECK(verdict(run.trace, run.analysis).starts_with(first.title));
  first.predicted->surety = GainSurety::kProbable;
  CHECK(verdict(run.trace, run.analysis).starts_with(fmt::format("Probably: {}", first.title)));
  for (Finding& finding : run.analysis.findings) finding.status = Status::kNoGain;
  for (Finding& finding : run.analysis.findings)
    if (finding.predicted) finding.predicted->surety = GainSurety::kSure;
  CHECK(verdict(run.trace, run.analysis).find("Cannot tell: ") == std::string::npos);
  first.predicted->surety = GainSurety::kOpen;
  CHECK(verdict(run.trace, run.analysis).find("Cannot tell: ") != std::string::npos);
}

TEST_CASE("doubts name a rank that a signal ended, and not those that its launcher ended then") {
  test::TraceBuilder builder;
  builder.range(1, "step", 0, 90, {.kind = trace::RangeKind::kStep});
  trace::Trace trace = builder.load();
  trace.world_size = 2;
  const auto add = [&](std::int32_t pid, std::int32_t rank, int signal) {
    trace::Process& process = trace.processes.emplace_back();
    process.pid = pid;
    process.parent_pid = trace.processes.front().pid;
    process.rank = rank;
    process.injected = true;
    process.signal = signal;
  };
  add(1001, 0, SIGTERM);
  add(1002, 1, SIGSEGV);
  std::string all;
  for (const Doubt& doubt : analyze(trace).doubts) all += doubt.text;
  CHECK(all.find("Rank 1 (process 1002) was ended by SIGSEGV") != std::string::npos);
  CHECK(all.find("1001") == std::string::npos);
}

}  // namespace headway::analyzer
