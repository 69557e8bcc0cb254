// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "analyzer/evidence/links.h"
#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/ranks/planted_job.h"

namespace headway::analyzer {
namespace {

using test::analyze_planted;
using test::finding;

/// Two ranks: the bus bandwidth of an all-reduce is bytes over time.
std::string run(const std::string& collective, const std::string& device = "") {
  return "plants: nothing\nexpect: nothing\njitter 0%\nranks 2\n" + device +
         "thread main\n  steps 12\n"
         "    repeat 5\n      launch bwd 1ms blocks=800 bytes=8MB phase=backward\n"
         "    record ready\n    await ready stream=comm\n    " +
         collective +
         "\n    record reduced stream=comm\n    await reduced\n"
         "    launch sgd 300us bytes=100MB phase=update\n    sync stream\n";
}

}  // namespace

TEST_CASE("comm-slow-link fires far below the device's link") {
  auto report = analyze_planted(run("collective allreduce 100MB 10ms"));  // 10 of 300 GB/s
  const Finding& found = finding(*report, "comm-slow-link");
  REQUIRE(found.status == Status::kFound);
  CHECK(found.sub_cause == "device-link");
  CHECK(found.claim.find("NVLink 3") != std::string::npos);
  CHECK(found.recoverable_per_step.milliseconds() ==
        doctest::Approx(10 * (1 - 10 / 210.0)).epsilon(0.05));
}

TEST_CASE("comm-slow-link is fine near the link's rate, and fires under 30 % of it") {
  CHECK(finding(*analyze_planted(run("collective allreduce 400MB 2ms")), "comm-slow-link").status ==
        Status::kFine);
  CHECK(finding(*analyze_planted(run("collective allreduce 186MB 2ms")), "comm-slow-link").status ==
        Status::kFine);  // 31 %
  CHECK(finding(*analyze_planted(run("collective allreduce 174MB 2ms")), "comm-slow-link").status ==
        Status::kFound);  // 29 %
}

TEST_CASE("comm-slow-link cannot tell from small messages or unknown devices, and is fine alone") {
  CHECK(finding(*analyze_planted(run("collective allreduce 1MB 1ms")), "comm-slow-link").status ==
        Status::kCannotTell);
  CHECK(finding(*analyze_planted(run("collective allreduce 100MB 10ms",
                                     "device cuda \"Some Accelerator\" sms=100\n")),
                "comm-slow-link")
            .status == Status::kCannotTell);
  test::AnalyzedRun alone(test::PlantedRun{});
  CHECK(alone.finding("comm-slow-link").status == Status::kFine);
}

TEST_CASE("devices find their link, special variants first") {
  REQUIRE(link_of("NVIDIA H100 80GB HBM3"));
  CHECK(link_of("NVIDIA H100 80GB HBM3")->label == "NVLink 4");
  CHECK(link_of("NVIDIA H100 PCIe")->label == "PCIe 5 x16");
  CHECK(link_of("Tesla V100-SXM2-32GB")->label == "NVLink 2");
  CHECK(!link_of("host device"));
  for (const Link& link : links()) {
    CHECK(link.bytes_per_s > 0);
    CHECK(link.network_bytes_per_s > 0);
    CHECK(!link.source.empty());
  }
}

}  // namespace headway::analyzer
