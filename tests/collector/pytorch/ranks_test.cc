// SPDX-License-Identifier: MIT
// Several ranks of torchrun over gloo in one recording: what they wait for, and which of them is late.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/collector/pytorch/pytorch_run.h"

namespace headway::test {
namespace {

constexpr int kPhase = 2;
constexpr int kSteps = 40;

/// Two ranks on this machine, each on a free port of its own choice.
std::vector<std::string> two_ranks(const std::string& what, const std::string& how) {
  std::vector<std::string> program = pytorch_program({what, how});
  std::vector<std::string> command(program.begin(), program.end() - 3);
  // PyTorch 1.13 with Python 3.11 does not know its own defaults of the last two, and its --standalone takes one port
  // for all runs of a machine.
  for (const char* word :
       {"-m", "torch.distributed.run", "--nnodes=1", "--rdzv_backend=c10d",
        "--rdzv_endpoint=localhost:0", "--nproc_per_node=2", "--redirects=1", "--tee=1"})
    command.emplace_back(word);
  command.insert(command.end(), program.end() - 3, program.end());
  return command;
}

nlohmann::json straggler_of(const std::string& slow) {
  TemporaryFolder folder;
  Recorded run = record(folder, two_ranks("ranks", slow), {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  // One wait for the gradients in each step of each rank; the metric and the barrier at the end.
  CHECK(ranges_of_kind(run.trace, kPhase, "s.value LIKE 'c10d::allreduce_ (%' AND r.phase=5") ==
        2 * kSteps);
  CHECK(ranges_of_kind(run.trace, kPhase, "s.value='c10d::all_reduce' AND r.phase=5") == 2);
  CHECK(ranges_of_kind(run.trace, kPhase, "s.value='c10d::barrier' AND r.phase=5") >= 2);
  CHECK(number(run.trace, "SELECT count(*) FROM HEADWAY_SETTING WHERE name LIKE 'pytorch.off%'") ==
        0);
  nlohmann::json report = report_of(run.trace);
  CHECK(report["trace"]["ranks"] == 2);
  CHECK(report["findings"][0]["rule"] == "straggler");
  for (const nlohmann::json& finding : report["findings"])
    if (finding["rule"] == "straggler") return finding;
  return {};
}

/// What comm-each-batch says of two batches a step.
std::string said_of(const std::string& exchanged) {
  TemporaryFolder folder;
  Recorded run = record(folder, two_ranks("accumulated", exchanged), {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  nlohmann::json report = report_of(run.trace);
  CHECK(report["steps"]["count"] == kSteps);
  for (const nlohmann::json& finding : report["findings"])
    if (finding["rule"] == "comm-each-batch") return finding["claim"];
  return {};
}

}  // namespace

TEST_CASE("gradients that are accumulated and exchanged after each batch are found") {
  HEADWAY_NEEDS_TORCH();
  // How much it gains is another matter: 40 steps beside other programs scatter.
  CHECK(said_of("each").starts_with("A step has 2 backward passes, and gradients are exchanged "));
  CHECK(said_of("once").starts_with("Gradients are exchanged once per step"));
}

TEST_CASE("the rank whose input is slow is named, with what it does there") {
  HEADWAY_NEEDS_TORCH();
  nlohmann::json straggler = straggler_of("input");
  CHECK(straggler["status"] == "found");
  CHECK(straggler["sub_cause"] == "input");
  CHECK(straggler["claim"].get<std::string>().starts_with("Rank 1 "));
  CHECK(straggler["claim"].get<std::string>().find("'collate'") != std::string::npos);
}

TEST_CASE("the rank whose optimizer is slow is named, with the optimizer") {
  HEADWAY_NEEDS_TORCH();
  nlohmann::json straggler = straggler_of("optimizer");
  CHECK(straggler["status"] == "found");
  CHECK(straggler["sub_cause"] == "compute");
  CHECK(straggler["claim"].get<std::string>().starts_with("Rank 1 "));
  CHECK(straggler["claim"].get<std::string>().find("optimizer") != std::string::npos);
  // Its reason contradicts nothing that the finding says.
  CHECK(straggler["cannot_predict"].get<std::string>().find("fewer than two ranks have any") !=
        std::string::npos);
}

TEST_CASE("communication is recorded without a trace in the program's results") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  Recorded run = record(folder, two_ranks("ranks", "nowhere"), {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  CHECK(run.finished.out == run_alone(two_ranks("ranks", "nowhere")).out);
}

}  // namespace headway::test
