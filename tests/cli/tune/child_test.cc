// SPDX-License-Identifier: MIT
#include "cli/tune/child.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "cli/tune/runs.h"
#include "common/error.h"

namespace headway::tune {
namespace {

/// True when no process of the group that the child told by its output is left. Orphans are there until init has reaped
/// them, which may take it seconds.
bool gone(pid_t group) {
  for (int i = 0; i < 1000; ++i) {
    if (::kill(-group, 0) != 0) return true;
    ::usleep(20000);
  }
  return false;
}

/// A file into which a child can write its number.
struct PidFile {
  std::string path = "tune_child_" + std::to_string(::getpid());
  ~PidFile() { ::unlink(path.c_str()); }
  pid_t read() const {
    long pid = 0;
    if (FILE* file = std::fopen(path.c_str(), "r")) {
      if (std::fscanf(file, "%ld", &pid) != 1) pid = 0;
      std::fclose(file);
    }
    return static_cast<pid_t>(pid);
  }
};

TEST_CASE("a child's output, errors and status come back") {
  const StopSignals signals;
  const ChildResult result = run_child({"sh", "-c", "echo out; echo err >&2; cat; exit 3"}, 0);
  CHECK(result.out == "out\n");
  CHECK(result.err == "err\n");
  CHECK(result.status == 3);
  CHECK(run_child({"sh", "-c", "kill -9 $$"}, 0).status == 128 + 9);
}

TEST_CASE("a program that is not there is an error that names it") {
  CHECK_THROWS_WITH_AS(run_child({"/no/such/headway-train"}, 0),
                       doctest::Contains("/no/such/headway-train"), Error);
}

TEST_CASE("a run over its limit is ended with all that it has started, even what ignores SIGTERM") {
  const StopSignals signals;
  const PidFile file;
  const auto start = std::chrono::steady_clock::now();
  CHECK_THROWS_AS(
      run_child(
          {"sh", "-c", "echo $$ > " + file.path + "; trap '' TERM; sleep 60 & sleep 60; sleep 60"},
          0.2),
      RunTooLong);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
  REQUIRE(file.read() > 0);
  CHECK(gone(file.read()));
}

TEST_CASE("a signal ends the child and is told") {
  const StopSignals signals;
  const PidFile file;
  std::thread sender([&] {
    for (int i = 0; i < 500 && file.read() == 0; ++i) ::usleep(10000);
    ::kill(::getpid(), SIGINT);
  });
  int got = 0;
  try {
    run_child({"sh", "-c", "echo $$ > " + file.path + "; sleep 60 & sleep 60"}, 0);
  } catch (const Interrupted& interrupted) {
    got = interrupted.signal;
  }
  sender.join();
  CHECK(got == SIGINT);
  CHECK(gone(file.read()));
  CHECK_THROWS_AS(run_child({"true"}, 0), Interrupted);
}

}  // namespace
}  // namespace headway::tune
