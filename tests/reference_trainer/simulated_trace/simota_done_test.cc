// SPDX-License-Identifier: MIT
// SimOTA image by image is found in its trace, and the gain of batches is predicted from it.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/reference_trainer/simulated_trace/predicted.h"

namespace headway::trainer {
namespace {

using test::check_done;
using test::Predicted;
using test::Switches;
using test::with;

const Switches kDetector = {{"device", "sim"},     {"model", "ssd"},   {"depth", "8"},
                            {"width", "8"},        {"batch", "32"},    {"eval", "off"},
                            {"workers", "64"},     {"prefetch", "64"}, {"host_cores", "128"},
                            {"matching", "simota"}};

bool is_found(const Predicted& run) {
  return std::ranges::any_of(run.analysis.findings, [](const analyzer::Finding& finding) {
    return finding.rule == "serial-per-sample" && finding.status == analyzer::Status::kFound;
  });
}

}  // namespace

TEST_CASE("SimOTA image by image is a finding, whose fix gains what is predicted") {
  const Switches apart = with(kDetector, {{"assign", "per-sample"}});
  SUBCASE("in FP32") {
    CHECK(is_found(Predicted(apart)));
    CHECK_FALSE(is_found(Predicted(with(kDetector, {{"assign", "batched"}}))));
    check_done(apart, "batch-samples", {{"assign", "batched"}}, 0.05);
  }
  SUBCASE("where launches hold it back") {
    const Switches launches = with(apart, {{"launch_us", "8"}, {"precision", "bf16"}});
    CHECK(is_found(Predicted(launches)));
    check_done(launches, "batch-samples", {{"assign", "batched"}}, 0.1);
  }
  SUBCASE("on two ranks") {
    check_done(with(apart, {{"ranks", "2"}}), "batch-samples", {{"assign", "batched"}}, 0.1);
  }
}

}  // namespace headway::trainer
