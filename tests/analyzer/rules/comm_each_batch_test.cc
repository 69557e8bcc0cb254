// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <string>

#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/ranks/planted_job.h"

namespace headway::analyzer {
namespace {

using test::analyze_planted;
using test::finding;

/// Two batches a step, each with an exchange of that length behind its backward pass; the second one of `last_mb`.
std::string run(const std::string& exchange, int last_mb = 200) {
  auto batch = [&](int mb) {
    return fmt::format(
        "    range forward phase=forward\n      launch fwd 4ms blocks=800 bytes=40MB\n"
        "    range backward phase=backward\n      launch bwd 8ms blocks=800 bytes=40MB\n"
        "      record gradients\n      await gradients stream=comm\n"
        "      collective allreduce {}MB {} communicator=dp ranks=8\n"
        "      record reduced stream=comm\n      await reduced\n",
        mb, exchange);
  };
  return "plants: nothing\nexpect: nothing\njitter 0%\nworld 8\nthread main\n  steps 12\n" +
         batch(200) + batch(last_mb) +
         "    range update phase=update\n      launch adam 300us bytes=100MB\n    sync stream\n";
}

/// A host thread that waits for gradients in ranges, as DDP over gloo: in both passes, or in the second alone.
std::string on_host(bool both) {
  auto batch = [&](bool waits) {
    return std::string(
               "    range forward phase=forward\n      host 4ms\n"
               "    range backward phase=backward\n      host 8ms\n") +
           (waits ? "      range c10d::allreduce_ phase=communication\n        host 3ms\n" : "");
  };
  return "plants: nothing\nexpect: nothing\njitter 0%\nworld 2\nthread main\n  steps 12\n" +
         batch(both) + batch(true) + "    range update phase=update\n      host 300us\n";
}

}  // namespace

TEST_CASE("comm-each-batch fires with what the exchanges before the last take") {
  auto report = analyze_planted(run("4ms"));
  const Finding& found = finding(*report, "comm-each-batch");
  CHECK(found.status == Status::kFound);
  CHECK(found.claim.find("2 backward passes") != std::string::npos);
  CHECK(found.recoverable_per_step.ns == doctest::Approx(4e6).epsilon(0.1));
  CHECK(!found.evidence.empty());
}

TEST_CASE("comm-each-batch fires from 5 % of the step on") {
  CHECK(finding(*analyze_planted(run("200us")), "comm-each-batch").status == Status::kFine);
}

TEST_CASE("comm-each-batch is fine where passes exchange different gradients") {
  CHECK(finding(*analyze_planted(run("4ms", 100)), "comm-each-batch").status == Status::kFine);
}

TEST_CASE("comm-each-batch sees what a host thread waits for in each backward pass") {
  CHECK(finding(*analyze_planted(on_host(true)), "comm-each-batch").status == Status::kFound);
  CHECK(finding(*analyze_planted(on_host(false)), "comm-each-batch").status == Status::kFine);
  CHECK(finding(*analyze_planted(on_host(false)), "comm-exposed").status == Status::kFound);
}

TEST_CASE("comm-each-batch is fine where each pass has its update") {
  std::string updates = run("4ms");
  const std::string update = "    range update phase=update\n      launch adam 300us bytes=100MB\n";
  updates.insert(updates.rfind("    range forward"), update);
  CHECK(finding(*analyze_planted(updates), "comm-each-batch").status == Status::kFine);
}

}  // namespace headway::analyzer
