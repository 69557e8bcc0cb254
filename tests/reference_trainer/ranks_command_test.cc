// SPDX-License-Identifier: MIT
// Several ranks, as a user starts them, and how they end.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/run_command.h"
#include "tests/support/temporary_folder.h"

namespace headway {
namespace {

using test::check_contains;
using test::Outcome;
using test::run_command;
using Clock = std::chrono::steady_clock;
using test::TemporaryFolder;

const std::string kProgram = HEADWAY_BINARY_DIR "/headway-train";
const std::string kTiny =
    " --data generated --source memory --depth 8 --width 8 --batch 8 --samples 200 --threads 1 "
    "--eval off ";

/// A run in the background whose output goes to a file.
struct Background {
  pid_t pid = -1;
  std::filesystem::path output;

  Background(const std::string& arguments, std::filesystem::path to) : output(std::move(to)) {
    const std::string command =
        "exec '" + kProgram + "' " + arguments + " > '" + output.string() + "' 2>&1";
    pid = fork();
    if (pid == 0) {
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
  }

  std::vector<pid_t> ranks() const {
    const std::string name =
        "/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children";
    std::ifstream file(name);
    std::vector<pid_t> children;
    for (pid_t child = 0; file >> child;) children.push_back(child);
    return children;
  }

  /// Exit status; -1 when it did not end in time.
  int wait(std::chrono::seconds limit) const {
    const auto deadline = Clock::now() + limit;
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
      if (Clock::now() > deadline) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        return -1;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::string text() const {
    std::ifstream file(output);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

}  // namespace

TEST_CASE("ranks train together, and one speaks and writes the figures") {
  TemporaryFolder folder;
  const auto metrics = folder / "m.json";
  const Outcome outcome = run_command("'" + kProgram + "'" + kTiny +
                                      "--ranks 3 --steps 6 --metrics '" + metrics.string() + "'");
  CAPTURE(outcome.output);
  CHECK(outcome.status == 0);
  check_contains(outcome, "6 steps");
  CHECK(outcome.output.find("median step") == outcome.output.rfind("median step"));
  const auto json = nlohmann::json::parse(std::ifstream(metrics));
  CHECK(json.at("settings").at("ranks") == "3");
}

namespace {

std::vector<double> losses_in(const std::filesystem::path& metrics) {
  const auto json = nlohmann::json::parse(std::ifstream(metrics));
  std::vector<double> losses;
  for (const auto& step : json.at("steps")) losses.push_back(step.at("loss").get<double>());
  return losses;
}

}  // namespace

TEST_CASE("ranks that share parameters write the checkpoint of ranks with whole ones") {
  TemporaryFolder folder;
  auto checkpoint = [&](const std::string& arguments, const std::string& name) {
    const auto path = folder / name;
    const Outcome outcome = run_command("'" + kProgram + "'" + kTiny + "--steps 5 --checkpoint '" +
                                        path.string() + "' " + arguments);
    CAPTURE(outcome.output);
    CHECK(outcome.status == 0);
    std::ifstream file(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  for (const std::string model :
       {"--model resnet", "--model transformer --layers 3 --features 32 --heads 2 --sequence 16"}) {
    CAPTURE(model);
    const std::string ranks = model + " --ranks 3 --shard-parameters ";
    const std::string whole = checkpoint(ranks + "off", "whole");
    CHECK(whole.size() > 10'000);
    CHECK(checkpoint(ranks + "on", "shared") == whole);
    CHECK(checkpoint(ranks + "on --gather-prefetch off", "late") == whole);
  }
}

TEST_CASE("the preset of late all-gathers runs on processors") {
  const Outcome outcome = run_command("'" + kProgram + "' --preset late-all-gather --steps 3");
  CAPTURE(outcome.output);
  CHECK(outcome.status == 0);
  check_contains(outcome, "3 steps");
}

TEST_CASE("ranks that mpirun starts train as ranks over shared memory, however gradients travel") {
  // Open MPI wants to be asked twice before it runs as root, as containers do.
  const std::string mpirun =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n ";
  if (run_command("command -v mpirun").status != 0) {
    MESSAGE("[skipped] no mpirun here");
    return;
  }
  TemporaryFolder folder;
  const auto metrics = folder / "m.json";
  const std::string common = kTiny + "--steps 6 --metrics '" + metrics.string() + "' ";
  struct Case {
    int ranks;
    std::string how;
  };
  for (const Case& one : {Case{2, ""},
                          {2, "--compress fp16"},
                          {2, "--compress int8"},
                          {2, "--compress dgc"},
                          {2, "--compress powersgd"},
                          {3, "--compress onebit"},
                          {2, "--local-steps 2"},
                          {4, "--topology hierarchical --ranks-per-node 2"},
                          {4, "--topology hierarchical --ranks-per-node 2 --compress fp16"},
                          {3, "--topology parameter-server"},
                          {3, "--shard-parameters on"}}) {
    CAPTURE(one.how);
    const std::string number = std::to_string(one.ranks);
    const Outcome shm =
        run_command("'" + kProgram + "'" + common + one.how + " --comm shm --ranks " + number);
    CAPTURE(shm.output);
    REQUIRE(shm.status == 0);
    const std::vector<double> expected = losses_in(metrics);
    const Outcome mpi =
        run_command(mpirun + number + " '" + kProgram + "'" + common + one.how + " --comm mpi");
    CAPTURE(mpi.output);
    if (mpi.says("this build has no MPI")) {
      MESSAGE("[skipped] built without MPI");
      return;
    }
    REQUIRE(mpi.status == 0);
    const std::vector<double> losses = losses_in(metrics);
    REQUIRE(losses.size() == 6);
    for (std::size_t step = 0; step < losses.size(); ++step)
      CHECK(losses[step] == doctest::Approx(expected[step]).epsilon(1e-4));
  }
}

namespace {

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::string kStages =
    " --model transformer --data generated --samples 200 --layers 3 --features 16 --heads 2 "
    "--sequence 16 --threads 1 --eval-samples 32 --fused-ln off ";

}  // namespace

TEST_CASE("a pipeline writes the checkpoint that one rank writes, and its last stage speaks") {
  TemporaryFolder folder;
  const auto metrics = folder / "m.json";
  auto train = [&](const std::string& how, const std::string& name) {
    const Outcome outcome =
        run_command("'" + kProgram + "'" + kStages + "--steps 6 " + how + " --metrics '" +
                    metrics.string() + "' --checkpoint '" + (folder / name).string() + "'");
    CAPTURE(outcome.output);
    REQUIRE(outcome.status == 0);
    check_contains(outcome, "6 steps");
    check_contains(outcome, "test: loss");
    CHECK(outcome.output.find("median step") == outcome.output.rfind("median step"));
    return losses_in(metrics);
  };
  const auto one = train("--batch 4 --accumulate 3", "one");
  for (const std::string schedule : {"gpipe", "1f1b"}) {
    const auto stages =
        train("--batch 12 --ranks 3 --micro-batches 3 --pipeline " + schedule, schedule);
    REQUIRE(stages.size() == one.size());
    for (std::size_t i = 0; i < one.size(); ++i)
      CHECK(stages[i] == doctest::Approx(one[i]).epsilon(2e-5));
    CHECK(bytes_of(folder / schedule) == bytes_of(folder / "one"));
  }
}

TEST_CASE("stages pass messages over MPI as over shared memory") {
  const std::string mpirun =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n ";
  if (run_command("command -v mpirun").status != 0) {
    MESSAGE("[skipped] no mpirun here");
    return;
  }
  TemporaryFolder folder;
  const auto metrics = folder / "m.json";
  const std::string common = kStages + "--steps 6 --batch 12 --metrics '" + metrics.string() + "' ";
  for (const std::string how :
       {"--pipeline gpipe --micro-batches 6", "--pipeline 1f1b --micro-batches 6"}) {
    CAPTURE(how);
    const Outcome shm = run_command("'" + kProgram + "'" + common + how + " --comm shm --ranks 3");
    CAPTURE(shm.output);
    REQUIRE(shm.status == 0);
    const std::vector<double> expected = losses_in(metrics);
    const Outcome mpi = run_command(mpirun + "3 '" + kProgram + "'" + common + how + " --comm mpi");
    CAPTURE(mpi.output);
    if (mpi.says("this build has no MPI")) {
      MESSAGE("[skipped] built without MPI");
      return;
    }
    REQUIRE(mpi.status == 0);
    CHECK(losses_in(metrics) == expected);
  }
}

TEST_CASE("a stage that does not come in time ends the run, and is named") {
  const std::string late = kStages +
                           "--steps 6 --batch 12 --pipeline gpipe --micro-batches 2 --slow-rank 1 "
                           "--slow-rank-ms 4000 --comm-timeout-s 1 ";
  const Outcome shm = run_command("'" + kProgram + "'" + late + "--ranks 2");
  CAPTURE(shm.output);
  CHECK(shm.status == 4);
  check_contains(shm, "rank 1 has not come");
  const Outcome mpi = run_command(
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun "
      "--oversubscribe -n 2 '" +
      kProgram + "'" + late + " --comm mpi");
  CAPTURE(mpi.output);
  if (mpi.status == 127 || mpi.says("this build has no MPI")) {
    MESSAGE("[skipped] no mpirun here, or built without MPI");
    return;
  }
  CHECK(mpi.status != 0);
  check_contains(mpi, "rank 1 has not come");
}

TEST_CASE("a stage that is killed ends the others, which name it") {
  TemporaryFolder folder;
  const Background background(
      kStages + "--batch 12 --steps 1000000 --ranks 3 --pipeline 1f1b --micro-batches 4 --quiet",
      folder / "out");
  std::vector<pid_t> ranks;
  for (int i = 0; i < 100 && ranks.size() < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ranks = background.ranks();
  }
  REQUIRE(ranks.size() == 3);
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  kill(ranks[1], SIGKILL);
  const auto killed = Clock::now();
  const int status = background.wait(std::chrono::seconds(30));
  CHECK(Clock::now() - killed < std::chrono::seconds(15));
  CAPTURE(background.text());
  CHECK(status == 4);
  CHECK(background.text().find("rank 1 (process") != std::string::npos);
  CHECK(background.text().find("Rank 0 stops") != std::string::npos);
  CHECK(background.text().find("Rank 2 stops") != std::string::npos);
}

TEST_CASE("a launcher's variables say who is which rank") {
  const std::string name = "MASTER_ADDR=localhost MASTER_PORT=" + std::to_string(getpid());
  auto rank = [&](int number) {
    return name + " RANK=" + std::to_string(number) + " WORLD_SIZE=2 '" + kProgram + "'" + kTiny +
           "--steps 4";
  };
  const Outcome outcome = run_command("(" + rank(1) + " & " + rank(0) + "; wait $!)");
  CAPTURE(outcome.output);
  CHECK(outcome.status == 0);
  check_contains(outcome, "4 steps");
  CHECK(run_command("RANK=5 WORLD_SIZE=2 '" + kProgram + "'" + kTiny).status == 2);
  CHECK(run_command(rank(0) + " --ranks 3").status == 2);
}

TEST_CASE("more ranks than data is refused on every rank, and the run ends") {
  const Outcome outcome =
      run_command("'" + kProgram + "'" + kTiny + "--ranks 4 --batch 64 --steps 3");
  CHECK(outcome.status == 2);
  check_contains(outcome, "4 ranks with a batch of 64");
}

TEST_CASE("a rank that is killed ends the run soon, with its name and a status") {
  TemporaryFolder folder;
  const Background background(kTiny + "--ranks 3 --steps 1000000 --quiet", folder / "out");
  std::vector<pid_t> ranks;
  for (int i = 0; i < 100 && ranks.size() < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ranks = background.ranks();
  }
  REQUIRE(ranks.size() == 3);
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  kill(ranks[1], SIGKILL);
  const auto killed = Clock::now();
  const int status = background.wait(std::chrono::seconds(30));
  CHECK(Clock::now() - killed < std::chrono::seconds(15));
  CAPTURE(background.text());
  CHECK(status == 4);
  CHECK(background.text().find("was killed by signal 9") != std::string::npos);
  CHECK(background.text().find("Rank 0 stops") != std::string::npos);
  CHECK(background.text().find("Rank 2 stops") != std::string::npos);
}

TEST_CASE("Ctrl-C ends all ranks in order") {
  TemporaryFolder folder;
  const Background background(kTiny + "--ranks 2 --steps 1000000 --quiet", folder / "out");
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  kill(background.pid, SIGINT);
  const int status = background.wait(std::chrono::seconds(30));
  CAPTURE(background.text());
  CHECK(status == 130);
  CHECK(background.text() == "");
}

TEST_CASE("an oracle has no gain where the run without the plant would be refused") {
  TemporaryFolder folder;
  const std::string oracle = (folder / "oracle.json").string();
  // 24 sequences do not fill the 32 micro batches of the run without the bubble.
  const Outcome outcome = run_command(
      "'" + kProgram +
      "' --device sim --preset pipeline-bubble --batch 24 --steps 5 --quiet --oracle '" + oracle +
      "'");
  CAPTURE(outcome.output);
  CHECK(outcome.status == 0);
  const auto json = nlohmann::json::parse(std::ifstream(oracle));
  CHECK(json.at("planted").at("rule") == "pipeline-bubble");
  CHECK(json.at("without_planted").is_null());
}

TEST_CASE("a simulated run writes a trace and an oracle, and refuses what is there") {
  TemporaryFolder folder;
  const std::string trace = (folder / "a trace.sqlite").string();
  const std::string oracle = (folder / "oracle.json").string();
  const std::string command =
      "'" + kProgram + "' --preset input-bound --device sim --data generated --cache-dir '" +
      folder.path().string() + "' --steps 15 --trace '" + trace + "' --oracle '" + oracle + "'";
  const Outcome outcome = run_command(command);
  CAPTURE(outcome.output);
  CHECK(outcome.status == 0);
  check_contains(outcome, "simulated h200");
  const auto json = nlohmann::json::parse(std::ifstream(oracle));
  CHECK(json.at("planted").at("rule") == "input-bound");
  CHECK(json.at("planted").at("switches").at("source").at("value") == "files");
  CHECK(json.at("without_planted").at("gain_share") > 0.5);
  CHECK(json.at("truth").at(0).at("steps").size() == 14);
  CHECK(json.at("truth").at(0).at("edges").size() > 1000);
  const Outcome again = run_command(command);
  CHECK(again.status == 2);
  check_contains(again, "a trace.sqlite");
  check_contains(again, "--trace");
  CHECK(again.output.find("--force") == std::string::npos);  // an option that headway-train has not
  const std::string each = (folder / "rank%r.sqlite").string();
  std::ofstream(folder / "rank0.sqlite") << "precious";
  const Outcome ranks =
      run_command("'" + kProgram + "' --device sim --data generated --ranks 2 --steps 5 --trace '" +
                  each + "'");
  CHECK(ranks.status == 2);
  check_contains(ranks, "rank0.sqlite");
  CHECK(ranks.output.find("--force") == std::string::npos);
  CHECK(run_command("'" + kProgram + "'" + kTiny + "--trace x.sqlite").status == 2);
  CHECK(run_command("'" + kProgram + "' --device sim --gpu h20").status == 2);
}

}  // namespace headway
