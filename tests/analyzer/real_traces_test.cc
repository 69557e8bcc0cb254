// SPDX-License-Identifier: MIT
// The recordings beside the project, from file to report: reference figures, and sums.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/report/report.h"
#include "analyzer/whatif/predict_findings.h"
#include "trace/load/load.h"

namespace headway::analyzer {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kTraces = fs::path(HEADWAY_SOURCE_DIR) / ".." / "shared" / "traces";

/// Every recording of the reference answers, analysed; skipped, with a reason, when they are not
/// here.
template <class Visit>
int for_each_trace(Visit visit) {
  if (!fs::exists(kTraces / "expected.json")) {
    MESSAGE("[skipped] the real recordings are not on this machine");
    return -1;
  }
  Json expected = Json::parse(std::ifstream(kTraces / "expected.json"));
  int count = 0;
  for (const auto& [file, devices] : expected.items()) {
    CAPTURE(file);
    trace::Trace trace = trace::load(kTraces / file);
    Analysis analysis = analyze(trace);
    visit(trace, analysis, devices);
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("the report's device view of every real recording equals the reference exactly") {
  int count =
      for_each_trace([](const trace::Trace& trace, const Analysis& analysis, const Json& devices) {
        Json report = Json::parse(render(ReportFormat::kJson, trace, analysis, {}));
        std::size_t compared = 0;
        for (const Json& view : report["device_view"]) {
          std::string ordinal = std::to_string(view["device"].get<int>());
          CAPTURE(ordinal);
          REQUIRE(devices.contains(ordinal));
          const Json& answer = devices[ordinal];
          for (const char* time :
               {"span", "compute", "exposed_comm", "exposed_copy", "idle", "comm", "overlap"}) {
            CAPTURE(time);
            CHECK(view[std::string(time) + "_ns"].get<std::int64_t>() ==
                  answer[time].get<std::int64_t>());
          }
          for (const char* number : {"kernels", "copies", "memsets"}) {
            CAPTURE(number);
            CHECK(view[number].get<std::int64_t>() == answer[number].get<std::int64_t>());
          }
          ++compared;
        }
        CHECK(compared == devices.size());
      });
  if (count >= 0) CHECK(count >= 14);
}

TEST_CASE("the classes of every step of every real recording sum to it") {
  for_each_trace([](const trace::Trace&, const Analysis& analysis, const Json&) {
    for (const DevicePartition& partition : analysis.partitions) {
      for (const DeviceStep& step : partition.steps) {
        CHECK(step.times.total() == step.interval.length());
        TimeNs now = step.interval.begin;
        for (std::uint32_t i = 0; i < step.segment_count; ++i) {
          const Segment& segment = partition.segments[step.first_segment + i];
          REQUIRE(segment.interval.begin == now);
          now = segment.interval.end;
        }
        CHECK(now == step.interval.end);
      }
    }
  });
}

TEST_CASE(
    "the first finding on real recordings is the one that docs/verdicts.md gives reasons for") {
  if (!fs::exists(kTraces / "expected.json")) {
    MESSAGE("[skipped] the real recordings are not on this machine");
    return;
  }
  constexpr std::pair<std::string_view, std::string_view> kFirst[] = {
      {"nsys/h100_2gpu_1s.sqlite", "copy-not-overlapped"},
      {"nsys/h100_mfu_before.sqlite", "unfused-elementwise"},
      {"kineto/v100_resnet_ddp_ns.json.gz", "no-tensor-cores"},
      {"kineto/a100_control.json.gz", "comm-exposed"},
      {"kineto/mi300_resnet_ddp.json.gz", "comm-exposed"},
  };
  for (const auto& [file, rule] : kFirst) {
    CAPTURE(file);
    trace::Trace trace = trace::load(kTraces / file);
    Analysis analysis = analyze(trace);
    REQUIRE(!analysis.findings.empty());
    CHECK(analysis.findings.front().status == Status::kFound);
    CHECK(analysis.findings.front().rule == rule);
  }
}

namespace {

bool here(const fs::path& file) {
  if (fs::exists(kTraces / file)) return true;
  MESSAGE("[skipped] the real recordings are not on this machine");
  return false;
}

struct Recording {
  explicit Recording(std::string_view file) : trace(trace::load(kTraces / file)) {
    analysis = analyze(trace);
    predict_findings(trace, analysis, {});
  }
  const Finding& finding(std::string_view rule) const {
    auto at = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                           [&](const Finding& f) { return f.rule == rule; });
    REQUIRE(at != analysis.findings.end());
    return *at;
  }
  bool found(std::string_view rule) const { return finding(rule).status == Status::kFound; }
  trace::Trace trace;
  Analysis analysis;
};

struct Judged {
  std::string_view file;
  std::string_view first;
  std::string_view sub_cause;
  std::vector<std::string_view> not_found;
  double gain_at_least = 0;  ///< predicted for the first finding
};

}  // namespace

TEST_CASE("judged recordings: the first cause, and what must not be said") {
  if (!here("judged")) return;
  const std::vector<Judged> judged = {
      {"judged/v100_dfidx.json.gz", "launch-bound", "", {"unfused-optimizer"}, 0.3},
      {"judged/h100_timesformer.json.gz",
       "input-bound",
       "own-thread",
       {"launch-bound", "memory-headroom", "workers-starved"},
       0.3},
      {"judged/h100_owlv2.json.gz",
       "input-bound",
       "own-thread",
       {"workers-starved", "host-round-trip"},
       0.35},
      {"judged/h100_falconsai.json.gz", "launch-bound", "", {"memory-headroom"}, 0.65},
      {"judged/sglang_bs32.json.gz", "graph-capture", "", {"allocator", "host-bound"}},
      {"judged/sglang_qwen3_8b.json.gz", "unrecorded-device-work", "", {"launch-bound"}},
      {"judged/b200_eager.json.gz", "launch-bound", "", {"memory-headroom"}, 0.75},
  };
  for (const Judged& one : judged) {
    CAPTURE(one.file);
    const Recording run(one.file);
    const Finding& first = run.analysis.findings.front();
    CHECK(first.status == Status::kFound);
    CHECK(first.rule == one.first);
    CHECK(first.sub_cause == one.sub_cause);
    for (std::string_view rule : one.not_found) {
      CAPTURE(rule);
      CHECK_FALSE(run.found(rule));
    }
    if (one.gain_at_least > 0) {
      REQUIRE(first.predicted);
      CHECK(first.predicted->share >= one.gain_at_least);
    }
    const bool inference = one.file != "judged/v100_dfidx.json.gz";
    CHECK(run.analysis.program.is_inference() == inference);
  }
}

TEST_CASE("judged recordings: the evidence is what fills the gap") {
  if (!here("judged")) return;
  CHECK(Recording("judged/h100_owlv2.json.gz").finding("input-bound").claim.find("zoom_shift") !=
        std::string::npos);
  const Recording timesformer("judged/h100_timesformer.json.gz");
  CHECK(timesformer.finding("input-bound").claim.find("preprocess") != std::string::npos);
  CHECK(timesformer.finding("input-bound").claim.find("array") == std::string::npos);
  // 404 all-reduces a step, one per parameter, after nearly all of the backward pass.
  const Recording dfidx("judged/v100_dfidx.json.gz");
  // Seen, though the host that launches them late leaves nothing to gain by overlap alone.
  const Status late = dfidx.finding("comm-not-overlapped").status;
  CHECK((late == Status::kFound || late == Status::kNoGain));
  CHECK(dfidx.found("unbucketed-collectives"));
  CHECK(dfidx.finding("unbucketed-collectives").claim.find("404 ") != std::string::npos);
}

TEST_CASE("judged recordings: a custom all-reduce is communication") {
  if (!here("judged")) return;
  const Recording b200("judged/b200_eager.json.gz");
  REQUIRE(b200.analysis.device_views.size() == 1);
  CHECK(b200.analysis.device_views[0].comm.ns == 2'141'501);
}

TEST_CASE("pairs: input work on the training thread, and the step that workers bring") {
  if (!here("pairs")) return;
  for (std::string_view kind : {"", "_stacks"}) {
    CAPTURE(kind);
    const auto file = [&](std::string_view workers) {
      return "pairs/v100_resnet50_workers_" + std::string(workers) + std::string(kind) + ".json.gz";
    };
    const Recording before(file("0"));
    const Recording after(file("4"));
    const Finding& input = before.finding("input-bound");
    REQUIRE(input.status == Status::kFound);
    CHECK(input.sub_cause == "own-thread");
    REQUIRE(input.predicted);
    CHECK(input.predicted->fix == "use-workers");
    CHECK(static_cast<double>(input.predicted->step.ns) ==
          doctest::Approx(static_cast<double>(after.analysis.step_times.p50.ns)).epsilon(0.1));
    CHECK_FALSE(after.found("input-bound"));
    CHECK(before.analysis.findings.front().rule == "input-bound");
  }
}

}  // namespace headway::analyzer
