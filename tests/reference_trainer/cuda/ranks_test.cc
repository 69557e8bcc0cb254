// SPDX-License-Identifier: MIT
// Ranks and micro batches on GPUs, as a user starts them: the losses of every step are those of the host device with the same
// ranks (which are those of one rank on the joined batch, comm_test.cc). What a step exchanges decides about all later losses.
#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/reference_trainer/cuda/command.h"
#include "tests/support/temporary_folder.h"

namespace headway {
namespace {

using test::check;
using test::emulated;
using test::Outcome;

const std::string kTiny = "--steps 6 --samples 200 --learning-rate 0.01 --dropout 0 --threads 1 ";
/// A GPU for each rank.
const std::string kGpus = "FAKE_CUDA_DEVICES=4";

std::vector<double> losses_of(const std::string& environment, const std::string& arguments) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "metrics.json";
  const Outcome outcome =
      test::run_trainer(environment, kTiny + arguments + " --metrics '" + file + "'");
  CAPTURE(outcome.output);
  REQUIRE(outcome.status == 0);
  std::vector<double> losses;
  const auto metrics = nlohmann::json::parse(std::ifstream(file));
  for (const auto& step : metrics.at("steps")) losses.push_back(step.at("loss").get<double>());
  return losses;
}

void check_alike(const std::string& arguments, double tolerance = 1e-4) {
  CAPTURE(arguments);
  const std::vector<double> host = losses_of("", "--device host " + arguments);
  const std::vector<double> gpu = losses_of(kGpus, "--device cuda " + arguments);
  REQUIRE(host.size() == gpu.size());
  REQUIRE(host.front() - host.back() > 0.01);  // it learns, so a wrong sum would be seen
  for (std::size_t i = 0; i < host.size(); ++i) {
    CAPTURE(i);
    CHECK(gpu[i] == doctest::Approx(host[i]).epsilon(tolerance));
  }
}

/// On a GPU machine NCCL needs one for each rank; there may be one only.
bool nccl_can_be_tested() {
  if (!emulated()) MESSAGE("[skipped] needs a GPU for each rank");
  return emulated();
}

}  // namespace

TEST_CASE("micro batches on a GPU are added up as on the host") {
  check_alike("--accumulate 3");
  check_alike("--accumulate 2 --precision amp-o2", 5e-3);
}

TEST_CASE("ranks whose GPUs exchange through host memory train as on the host") {
  const std::string ranks = "--comm shm --ranks 2 ";
  check_alike(ranks);
  check_alike(ranks + "--accumulate 2 --overlap off --bucket-mb 0 --first-bucket-mb 0");
  check_alike(ranks + "--precision amp-o2", 5e-3);
  check_alike("--comm shm --ranks 4 --ranks-per-node 2 --topology hierarchical");
  check_alike(ranks + "--topology parameter-server");
}

TEST_CASE("compressed gradients of GPUs are those of the host") {
  for (const char* way : {"fp16", "int8", "dgc", "powersgd"})
    check_alike(std::string("--comm shm --ranks 2 --compress ") + way, 1e-3);
  check_alike("--comm shm --ranks 4 --ranks-per-node 2 --topology hierarchical --compress fp16",
              1e-3);
  check_alike("--comm shm --ranks 2 --compress dgc --dgc-warm-up 3 --dgc-density 0.02", 1e-3);
  check_alike("--comm shm --ranks 2 --compress dgc --dgc-warm-up 0 --dgc-clip 0.5", 1e-3);
  check_alike("--comm shm --ranks 3 --compress onebit", 2e-2);
}

TEST_CASE("GPUs that step alone average as ranks on the host") {
  check_alike("--comm shm --ranks 2 --local-steps 3");
  check_alike("--comm shm --ranks 2 --local-steps 2 --precision bf16", 5e-3);
}

TEST_CASE("ranks whose GPUs exchange by NCCL train as on the host") {
  if (!nccl_can_be_tested()) return;
  auto check_nccl = [&](const std::string& arguments, double tolerance = 1e-4) {
    CAPTURE(arguments);
    const std::vector<double> shm = losses_of(kGpus, "--device cuda --comm shm " + arguments);
    const std::vector<double> nccl = losses_of(kGpus, "--device cuda --comm nccl " + arguments);
    REQUIRE(shm.size() == nccl.size());
    for (std::size_t i = 0; i < shm.size(); ++i)
      CHECK(nccl[i] == doctest::Approx(shm[i]).epsilon(tolerance));
  };
  check_alike("--ranks 2");  // auto takes it
  check_nccl("--ranks 3 --overlap off");
  check_nccl("--ranks 4 --ranks-per-node 2 --topology hierarchical --bucket-mb 0");
  check_nccl("--ranks 4 --ranks-per-node 2 --topology hierarchical --compress fp16", 1e-3);
  check_nccl("--ranks 3 --topology parameter-server");
  for (const char* way : {"fp16", "int8", "dgc", "powersgd"})
    check_nccl(std::string("--ranks 2 --compress ") + way, 1e-3);
  check_nccl("--ranks 3 --compress onebit", 1e-3);
  check_nccl("--ranks 3 --local-steps 2");
  check_nccl("--ranks 2 --cuda-graph on");
  check_nccl("--ranks 2 --cuda-graph on --overlap off");
}

TEST_CASE("memory that comes and goes changes no result of ranks and micro batches on GPUs") {
  auto check_raw = [&](const std::string& arguments) {
    CAPTURE(arguments);
    const std::string gpu = "--device cuda " + arguments;
    const std::vector<double> planned = losses_of(kGpus, gpu);
    const std::vector<double> raw = losses_of(kGpus, gpu + " --allocator raw");
    if (emulated()) CHECK(raw == planned);
    REQUIRE(raw.size() == planned.size());
    for (std::size_t i = 0; i < raw.size(); ++i)
      CHECK(raw[i] == doctest::Approx(planned[i]).epsilon(1e-3));
  };
  check_raw("--accumulate 2");
  check_raw("--comm shm --ranks 2 --accumulate 2");
  check_raw("--comm shm --ranks 2 --compress powersgd");
  if (nccl_can_be_tested()) check_raw("--comm nccl --ranks 2");
}

TEST_CASE("auto says why GPUs exchange through host memory, nccl refuses to") {
  if (!emulated()) return;
  const std::string ranks = "--device cuda --steps 2 --ranks 2";
  check(test::run_trainer("FAKE_CUDA_DEVICES=1", ranks), 0,
        "gradients are exchanged through host memory (shm): ranks 0 and 1 share a GPU");
  check(test::run_trainer("FAKE_CUDA_DEVICES=1", ranks + " --comm nccl"), 3,
        "comm: NCCL cannot be used: ranks 0 and 1 share a GPU. Use --comm shm");
  check(test::run_trainer("", "--device host --steps 2 --ranks 2 --comm nccl"), 2,
        "comm: NCCL is for GPUs");
  check(test::run_trainer(kGpus, ranks + " --comm nccl --network-us 100"), 2,
        "comm: emulated links");
}

// Lazily: NCCL's calls do not wait for other ranks, but work that runs at once would.
TEST_CASE("a rank that fails or does not come ends all, soon and with its reason") {
  if (!emulated()) return;
  using Clock = std::chrono::steady_clock;
  const std::string ranks = "--device cuda --steps 20 --ranks 2 --comm-timeout-s 3";
  auto check_ends = [&](const std::string& environment, const std::string& arguments,
                        const std::string& reason) {
    const Clock::time_point start = Clock::now();
    check(test::run_trainer(kGpus + " " + environment, arguments), 4, reason);
    CHECK(Clock::now() - start < std::chrono::seconds(30));
  };
  check_ends("FAKE_CUDA_LAZY=1 FAKE_NCCL_FAILS=ncclAllReduce", ranks + " --comm nccl",
             "ncclAllReduce failed: unhandled system error (run with NCCL_DEBUG=INFO for details) "
             "(a network cable was pulled out)");
  check_ends("FAKE_CUDA_LAZY=1 FAKE_NCCL_STUCK=1", ranks + " --comm nccl",
             "a collective has not ended after 3 s");
  check_ends("FAKE_CUDA_FAILS=cuLaunchHostFunc", ranks + " --comm shm", "cuLaunchHostFunc failed");
}

}  // namespace headway
