// SPDX-License-Identifier: MIT
// Every way to die, for one process, threads and forked children: nothing that was committed is lost.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>

#include "tests/collector/run_recorder.h"

namespace headway::test {
namespace {

constexpr int kMaxSlots = 64;

struct Topology {
  const char* name;
  int processes;
  int threads;
};
constexpr Topology kTopologies[] = {
    {"one process", 1, 1}, {"three threads", 1, 3}, {"three forked processes", 3, 1}};

/// What the workers counted after each committed range.
std::vector<std::uint64_t> side_counts(const std::filesystem::path& side) {
  std::vector<std::uint64_t> counts(kMaxSlots);
  std::ifstream file(side, std::ios::binary);
  file.read(reinterpret_cast<char*>(counts.data()), kMaxSlots * sizeof(std::uint64_t));
  return counts;
}

void check_nothing_lost(const std::filesystem::path& trace, const std::filesystem::path& side,
                        const Topology& topology) {
  CHECK(intact(trace));
  CHECK(loss(trace, "ring_full") == 0);
  std::vector<std::uint64_t> counts = side_counts(side);
  for (int slot = 0; slot < topology.processes * topology.threads; ++slot) {
    std::int64_t counted = static_cast<std::int64_t>(counts[static_cast<std::size_t>(slot)]);
    std::int64_t recorded = ranges(trace, "slot " + std::to_string(slot));
    CHECK(counted > 0);
    CHECK(recorded >= counted);
    CHECK(recorded <= counted + 1);  // one may have been ended and not counted yet
  }
  CHECK(number(trace, "SELECT count(*) FROM HEADWAY_PROCESS WHERE injected=1") ==
        topology.processes);
}

void check_ending(const std::string& ending, int expected_status) {
  for (const Topology& topology : kTopologies) {
    CAPTURE(ending);
    CAPTURE(topology.name);
    TemporaryFolder folder;
    std::filesystem::path side = folder / "side";
    Recorded run =
        record(folder, {target("worker"), side.string(), std::to_string(topology.processes),
                        std::to_string(topology.threads), ending, "2000"});
    CHECK(run.finished.status == expected_status);
    check_nothing_lost(run.trace, side, topology);
    CHECK(meta(run.trace, "state") == "complete");
    bool by_signal = expected_status > 128;
    CHECK(meta(run.trace, by_signal ? "exit_signal" : "exit_code") ==
          std::to_string(by_signal ? expected_status - 128 : expected_status));
  }
}

/// Starts workers that never end by themselves, and waits until all of them record.
void start_workers(Recorder& recorder, const std::filesystem::path& side,
                   const Topology& topology) {
  recorder.start();
  REQUIRE(eventually([&] {
    std::vector<std::uint64_t> counts = side_counts(side);
    for (int slot = 0; slot < topology.processes * topology.threads; ++slot) {
      if (counts[static_cast<std::size_t>(slot)] < 500) return false;
    }
    return true;
  }));
}

std::vector<std::string> worker_command(const std::filesystem::path& trace,
                                        const std::filesystem::path& side, const Topology& topology,
                                        const char* ending) {
  return {"-o",
          trace.string(),
          "--",
          target("worker"),
          side.string(),
          std::to_string(topology.processes),
          std::to_string(topology.threads),
          ending};
}

}  // namespace

TEST_CASE("a program that returns loses nothing") {
  check_ending("return", 5);
}
TEST_CASE("a program that calls _exit loses nothing") {
  check_ending("exit", 7);
}
TEST_CASE("a program that is killed loses nothing that it had committed") {
  check_ending("kill", 128 + SIGKILL);
}
TEST_CASE("a program that dies of a segmentation fault loses nothing that it had committed") {
  check_ending("segv", 128 + SIGSEGV);
}
TEST_CASE("a program that aborts loses nothing that it had committed") {
  check_ending("abort", 128 + SIGABRT);
}

TEST_CASE("SIGTERM to the recorder is passed on, and nothing committed is lost") {
  for (const Topology& topology : kTopologies) {
    CAPTURE(topology.name);
    TemporaryFolder folder;
    Recorder recorder(worker_command(folder / "run.sqlite", folder / "side", topology, "wait"));
    start_workers(recorder, folder / "side", topology);
    ::kill(recorder.pid(), SIGTERM);
    Finished finished = recorder.wait();
    CHECK(finished.status == 128 + SIGTERM);
    CHECK(finished.err.find("was ended by signal 15") != std::string::npos);
    check_nothing_lost(folder / "run.sqlite", folder / "side", topology);
    CHECK(meta(folder / "run.sqlite", "interrupted") == "1");
  }
}

TEST_CASE("Ctrl-C in a terminal ends the program once, and nothing committed is lost") {
  if (!has_terminals()) {
    MESSAGE("[skipped] there are no pseudo-terminals here (/dev/pts)");
    return;
  }
  for (const Topology& topology : kTopologies) {
    CAPTURE(topology.name);
    TemporaryFolder folder;
    Recorder recorder(worker_command(folder / "run.sqlite", folder / "side", topology, "wait"));
    recorder.on_terminal();
    start_workers(recorder, folder / "side", topology);
    recorder.type("\x03");
    Finished finished = recorder.wait();
    CHECK(finished.status == 128 + SIGINT);
    check_nothing_lost(folder / "run.sqlite", folder / "side", topology);
  }
}

TEST_CASE("a program that ignores Ctrl-C can be left with a second one") {
  if (!has_terminals()) {
    MESSAGE("[skipped] there are no pseudo-terminals here (/dev/pts)");
    return;
  }
  TemporaryFolder folder;
  std::filesystem::path side = folder / "side";
  Topology topology = kTopologies[0];
  Recorder recorder(worker_command(folder / "run.sqlite", side, topology, "ignore"));
  recorder.on_terminal();
  start_workers(recorder, side, topology);
  recorder.type("\x03");
  std::uint64_t before = side_counts(side)[0];
  CHECK(eventually([&] { return side_counts(side)[0] > before + 500; }));  // still recorded
  sleep_ms(300);
  recorder.type("\x03");
  REQUIRE(eventually([&] {
    return std::filesystem::exists(folder / "run.sqlite") &&
           meta(folder / "run.sqlite", "state") == "complete";
  }));
  before = side_counts(side)[0];
  CHECK(eventually([&] { return side_counts(side)[0] > before + 500; }));  // and runs on
  std::ofstream(side.string() + ".stop") << "stop";
  Finished finished = recorder.wait();
  CHECK(finished.status == 130);
  CHECK(finished.out.find("is still running") != std::string::npos);
  CHECK(intact(folder / "run.sqlite"));
  CHECK(ranges(folder / "run.sqlite", "slot 0") > 500);
}

TEST_CASE("when the recorder is killed the program runs on and the trace says that it was cut") {
  for (const Topology& topology : kTopologies) {
    CAPTURE(topology.name);
    TemporaryFolder folder;
    std::filesystem::path side = folder / "side";
    Recorder recorder(worker_command(folder / "run.sqlite", side, topology, "ignore"));
    start_workers(recorder, side, topology);
    sleep_ms(600);  // more than a commit interval
    ::kill(recorder.pid(), SIGKILL);
    std::uint64_t before = side_counts(side)[0];
    // Longer than the rings hold: they fill up, and the program does not wait for anybody.
    CHECK(eventually([&] { return side_counts(side)[0] > before + 40'000; }));
    std::ofstream(side.string() + ".stop") << "stop";
    Finished finished = recorder.wait();
    CHECK(finished.status == 128 + SIGKILL);
    CHECK(intact(folder / "run.sqlite"));
    CHECK(meta(folder / "run.sqlite", "state") == "recording");
    CHECK(ranges(folder / "run.sqlite", "slot 0") > 0);
    sleep_ms(50);  // the children see the parent's end
  }
}

}  // namespace headway::test
