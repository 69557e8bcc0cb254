// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "analyzer/evidence/expert_regions.h"
#include "analyzer/whatif/predict_findings.h"
#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/ranks/planted_job.h"

namespace headway::analyzer {
namespace {

using test::analyze_planted;
using test::finding;

/// Tokens go to experts and back; `more` is launched in between, `outside` before.
std::string layer(const std::string& more, const std::string& outside = {}) {
  return outside +
         "    launch attention 2ms\n"
         "    record before\n"
         "    await before stream=comm\n"
         "    collective alltoall 32MB 300us communicator=ep\n"
         "    record tokens stream=comm\n"
         "    await tokens\n" +
         more +
         "    launch experts 1ms\n"
         "    record results\n"
         "    await results stream=comm\n"
         "    collective alltoall 32MB 300us communicator=ep\n"
         "    record back stream=comm\n"
         "    await back\n";
}

std::string job(const std::string& layers) {
  return "plants: nothing\nexpect: nothing\njitter 0%\nranks 4\nthread main\n  steps 12\n" +
         layers + "    sync stream\n";
}

std::string longer(int rank, const std::string& time) {
  return "    on rank=" + std::to_string(rank) + "\n      launch more " + time + "\n";
}

}  // namespace

TEST_CASE("expert-imbalance is the waiting of all ranks, and rises from layer to layer") {
  // Rank 0 has 2 ms more in one layer, rank 2 in the other: the others wait 2 ms in each, three of four ranks.
  const auto report = analyze_planted(job(layer(longer(0, "2ms")) + layer(longer(2, "2ms"))));
  const Finding& found = finding(*report, "expert-imbalance");
  REQUIRE(found.status == Status::kFound);
  CHECK(found.recoverable_per_step.milliseconds() == doctest::Approx(3).epsilon(0.05));
  // What else asks for uneven ranks leaves it to this rule.
  CHECK(finding(*report, "straggler").status == Status::kFine);
  CHECK(finding(*report, "uneven-batches").status != Status::kFound);
}

TEST_CASE("expert-imbalance fires from 5 % of the step on") {
  CHECK(finding(*analyze_planted(job(layer(longer(0, "150us")))), "expert-imbalance").status ==
        Status::kFine);
  CHECK(finding(*analyze_planted(job(layer(longer(0, "500us")))), "expert-imbalance").status ==
        Status::kFound);
}

TEST_CASE("a rank that is slow in everything is no expert's fault") {
  const auto slow = analyze_planted(
      job(layer(longer(1, "1ms"), longer(1, "2ms")) + layer(longer(1, "1ms"), longer(1, "2ms"))));
  CHECK(finding(*slow, "expert-imbalance").status == Status::kFine);
  CHECK(finding(*slow, "straggler").status == Status::kFound);
}

TEST_CASE("exposed all-to-alls stay a finding though what is known of gradients does not help") {
  const auto report = analyze_planted(job(layer({}) + layer({})));
  predict_findings(report->trace, report->analysis, {}, report->whole ? &*report->whole : nullptr);
  const Finding& found = finding(*report, "comm-exposed");
  REQUIRE(found.status == Status::kFound);
  CHECK(found.sub_cause == "alltoall");
  CHECK(found.fixes.empty());
  CHECK(finding(*report, "expert-imbalance").status == Status::kFine);
}

TEST_CASE("expert-imbalance needs other ranks, and all-to-alls in pairs") {
  test::AnalyzedRun run(test::PlantedRun{});
  CHECK(run.finding("expert-imbalance").status == Status::kFine);
  CHECK(finding(*analyze_planted(job("    launch attention 2ms\n")), "expert-imbalance").status ==
        Status::kFine);
}

TEST_CASE("pairs of all-to-alls of one communicator are regions, and counts of tokens are none") {
  Collectives all;
  all.groups = {{"ep", "alltoall"}, {"dp", "allreduce"}};
  std::vector<std::uint32_t> rows;
  auto add = [&](std::uint32_t group, std::int64_t step, std::int64_t bytes) {
    RankCollective row;
    row.group = group;
    row.step = step;
    row.bytes = bytes;
    rows.push_back(static_cast<std::uint32_t>(all.rows.size()));
    all.rows.push_back(row);
  };
  for (std::int64_t step = 0; step < 2; ++step)
    for (int layer = 0; layer < 2; ++layer) {
      add(0, step, 64);
      add(0, step, 1 << 20);
      add(1, step, 1 << 20);
      add(0, step, 1 << 20);
    }
  add(0, 2, 1 << 20);  // cut off
  const auto regions = expert_regions(all, rows);
  REQUIRE(regions.size() == 2);
  REQUIRE(regions.at(1).size() == 2);
  CHECK(regions.at(0)[0].brings == 1);
  CHECK(regions.at(0)[0].takes == 3);
  CHECK(regions.at(1)[1].takes == 15);
}

}  // namespace headway::analyzer
