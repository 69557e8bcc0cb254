// SPDX-License-Identifier: MIT
// The recordings beside the project, from file to report: reference figures, and sums.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "analyzer/report/report.h"
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

}  // namespace headway::analyzer
