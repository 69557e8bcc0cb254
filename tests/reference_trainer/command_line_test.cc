// SPDX-License-Identifier: MIT
// The program as a user calls it.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tests/support/run_command.h"
#include "tests/support/temporary_folder.h"

namespace headway {
namespace {

using test::check_contains;
using test::Outcome;
using test::TemporaryFolder;

const std::string kTiny =
    " --data generated --source memory --depth 8 --width 8 --batch 8 --samples 100 --threads 1 ";

Outcome run(const std::string& arguments) {
  const std::string command = "'" HEADWAY_BINARY_DIR "/headway-train' " + arguments + "";
  return test::run_command(command);
}

}  // namespace

TEST_CASE("a short run ends with its figures, evaluation included") {
  const Outcome outcome = run(kTiny + "--steps 5 --eval-samples 16");
  CHECK(outcome.status == 0);
  check_contains(outcome, "5 steps");
  check_contains(outcome, "images/s");
  check_contains(outcome, "test: loss");
  check_contains(outcome, "on 16 images");
}

TEST_CASE("switches without effect on this device are named") {
  const Outcome outcome = run(kTiny + "--steps 3 --eval off --device host --gpu t4");
  CHECK(outcome.status == 0);
  check_contains(outcome, "gpu: has no effect without --device sim");
  CHECK(outcome.output.find("jitter") == std::string::npos);
}

TEST_CASE("quiet means quiet") {
  CHECK(run(kTiny + "--steps 3 --eval off --quiet").output.empty());
}

TEST_CASE("options can be set in either form, over a preset, in any order") {
  const Outcome outcome =
      run("--batch 3 --set fused_bn=off --preset healthy --loss_every 4 --set sync=op --explain");
  CHECK(outcome.status == 0);
  check_contains(outcome, "batch              3                        command line");
  check_contains(outcome, "fused_bn           off                      command line");
  check_contains(outcome, "loss_every         4                        command line");
  check_contains(outcome, "steps              100                      preset healthy");
}

TEST_CASE("a typo gets a suggestion and status 2") {
  Outcome outcome = run("--wrokers 3");
  CHECK(outcome.status == 2);
  check_contains(outcome, "Did you mean '--workers'?");
  outcome = run("--preset helthy");
  CHECK(outcome.status == 2);
  check_contains(outcome, "Did you mean 'healthy'?");
  outcome = run("--set fusedbn=off");
  CHECK(outcome.status == 2);
  check_contains(outcome, "Did you mean 'fused_bn'?");
  outcome = run("--h2d sometimes");
  CHECK(outcome.status == 2);
  check_contains(outcome, "prefetch, async, blocking");
  CHECK(run("--set nonsense").status == 2);
  CHECK(run("--batch").status == 2);
}

TEST_CASE("help, version, reference and graph print and stop") {
  Outcome outcome = run("--help");
  CHECK(outcome.status == 0);
  check_contains(outcome, "--fused-bn");
  check_contains(outcome, "input-bound");
  CHECK(run("--version").output.starts_with("headway-train "));
  check_contains(run("--reference"), "# Switches of headway-train");
  check_contains(run(kTiny + "--print-graph"), "bn_add_relu_backward");
}

TEST_CASE("metrics are written whole, in a folder with a space") {
  TemporaryFolder folder;
  const auto path = folder / "my metrics.json";
  CHECK(run(kTiny + "--steps 6 --eval off --metrics '" + path.string() + "'").status == 0);
  const auto json = nlohmann::json::parse(std::ifstream(path));
  CHECK(json.at("schema_version") == 1);
  CHECK(json.at("steps").size() == 6);
  CHECK(json.at("settings").at("batch") == "8");
  CHECK(json.at("steps")[3].at("loss").is_number());
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE(
    "a checkpoint of a training is what inference in INT8 runs, and its accuracy stands beside "
    "FP32's") {
  const TemporaryFolder folder;
  const std::string file = " --checkpoint '" + (folder / "run.safetensors").string() + "' ";
  CHECK(run(kTiny + file + "--steps 5 --eval off --quiet").status == 0);
  const Outcome outcome = run(kTiny + file +
                              "--mode infer --infer-precision int8 --steps 4 --eval-samples 16 "
                              "--calibrate-samples 16");
  CHECK(outcome.status == 0);
  check_contains(outcome, "4 steps");
  check_contains(outcome, "in int8; in plain FP32 loss");
}

TEST_CASE("inference refuses what it has no use for, and says why") {
  const std::string infer = kTiny + "--mode infer --steps 2 ";
  check_contains(run(infer + "--device sim --ranks 2"), "inference runs on one rank");
  check_contains(run(infer + "--accumulate 2"), "no gradients to add up");
  check_contains(run(infer + "--layout nchw"), "Use --layout nhwc");
  check_contains(run(infer + "--checkpoint /nonexistent/file"), "it cannot be opened");
  check_contains(run(kTiny + "--device sim --steps 2 --checkpoint x"), "computes no parameters");
}

TEST_CASE("SimOTA is refused where there are no predictions to read, and says what to use") {
  const std::string simota = kTiny + "--matching simota --steps 2 ";
  Outcome outcome = run(simota + "--model ssd");
  CHECK(outcome.status == 2);
  check_contains(outcome, "Use --assign batched or per-sample");
  outcome = run(simota + "--model resnet --assign batched");
  CHECK(outcome.status == 2);
  check_contains(outcome, "Use --model ssd");
}

TEST_CASE("metrics that cannot be written are refused before the run") {
  const Outcome outcome = run(kTiny + "--metrics /no/such/folder/m.json");
  CHECK(outcome.status == 3);
  check_contains(outcome, "/no/such/folder/m.json");
}

TEST_CASE("missing data names the package and has status 3, or generated images stand in") {
  TemporaryFolder folder;
  const std::string options =
      "--depth 8 --width 8 --batch 8 --samples 50 --steps 2 --eval off "
      "--threads 1 --source memory --data-dir '" +
      folder.path().string() + "' ";
  Outcome outcome = run(options + "--data fashion-mnist");
  CHECK(outcome.status == 3);
  check_contains(outcome, "dataset-fashion-mnist");
  outcome = run(options);
  CHECK(outcome.status == 0);
  check_contains(outcome, "using generated images");
}

TEST_CASE("an unusable cache folder has status 3 and a remedy") {
  TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  const Outcome outcome =
      run("--data generated --samples 50 --batch 8 --source files --threads 1 "
          "--cache-dir '" +
          (folder / "file").string() + "'");
  CHECK(outcome.status == 3);
  check_contains(outcome, "--cache-dir");
}

TEST_CASE("Ctrl-C ends a run in order, with metrics and status 130") {
  TemporaryFolder folder;
  const std::string metrics = (folder / "m.json").string();
  const std::string program = HEADWAY_BINARY_DIR "/headway-train";
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    execl(program.c_str(), "headway-train", "--data", "generated", "--source", "memory", "--depth",
          "8", "--width", "8", "--batch", "8", "--samples", "100", "--threads", "1", "--steps",
          "100000000", "--quiet", "--metrics", metrics.c_str(), nullptr);
    _exit(127);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  kill(child, SIGINT);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  const auto json = nlohmann::json::parse(std::ifstream(metrics));
  CHECK(json.at("interrupted") == true);
}

}  // namespace headway
