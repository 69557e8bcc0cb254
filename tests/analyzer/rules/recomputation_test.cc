// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/ranks/planted_job.h"

namespace headway::analyzer {
namespace {

using test::analyze_planted;
using test::finding;

const std::string kForward =
    "        launch layer_norm 100us blocks=800\n"
    "        launch ampere_bf16_s16816gemm_qkv 400us blocks=900 math=tensor\n"
    "        launch gelu_kernel 100us blocks=900\n"
    "        launch ampere_bf16_s16816gemm_fc2 400us blocks=600 math=tensor\n";
const std::string kBackward =
    "        launch ampere_bf16_s16816gemm_fc2_nt 900us blocks=700 math=tensor\n"
    "        launch gelu_backward_kernel 100us blocks=900\n"
    "        launch ampere_bf16_s16816gemm_qkv_nt 900us blocks=950 math=tensor\n"
    "        launch layer_norm_backward 100us blocks=800\n";

std::string run(const std::string& again, const std::string& used, int blocks = 4,
                const char* phase = "backward") {
  const std::string repeat = "      repeat " + std::to_string(blocks) + "\n";
  return "plants: nothing\nexpect: nothing\njitter 0%\n" +
         (used.empty() ? ""
                       : "counter gpu.memory_used " + used + " unit=bytes every=10ms device=0\n") +
         "thread main\n  steps 12\n    range forward phase=forward\n" + repeat + kForward +
         "    range back phase=" + phase + "\n" + repeat + again + kBackward +
         "    range update phase=update\n      launch adam 300us bytes=100MB\n    sync stream\n";
}

}  // namespace

TEST_CASE("recomputation fires with the time of the kernels that run twice") {
  auto report = analyze_planted(run(kForward, "20GB"));
  const Finding& found = finding(*report, "recomputation");
  REQUIRE(found.status == Status::kFound);
  CHECK(found.exposed_per_step.milliseconds() == doctest::Approx(4).epsilon(0.01));
}

TEST_CASE("recomputation is fine where the backward pass has its own kernels only") {
  CHECK(finding(*analyze_planted(run("", "20GB")), "recomputation").status == Status::kFine);
  const std::string cheap = kForward.substr(0, kForward.find('\n') + 1);
  CHECK(finding(*analyze_planted(run(cheap, "20GB")), "recomputation").status == Status::kFine);
}

TEST_CASE("recomputation cannot tell without the room in memory, or when nobody knows of it") {
  CHECK(finding(*analyze_planted(run(kForward, "70GB")), "recomputation").status ==
        Status::kCannotTell);
  CHECK(finding(*analyze_planted(run(kForward, "")), "recomputation").status ==
        Status::kCannotTell);
}

TEST_CASE("recomputation cannot tell where nothing tells the backward pass") {
  CHECK(finding(*analyze_planted(run(kForward, "20GB", 4, "none")), "recomputation").status ==
        Status::kCannotTell);
}

}  // namespace headway::analyzer
