// SPDX-License-Identifier: MIT
// Every way to end {return, _exit, SIGKILL, SIGSEGV, abort, SIGTERM, Ctrl-C, the recorder killed, the disk
// full, shared memory refused} for every kind of run {one process, threads, forked, spawned, 4 ranks under
// mpirun}: nothing that was committed is lost, the exit code is right, the file is intact, what was lost is
// counted.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <numeric>

#include "tests/collector/run_recorder.h"

namespace headway::test {
namespace {

constexpr int kMaxSlots = 64;

struct Topology {
  const char* name;
  int processes;
  int threads;
  const char* kind = "fork";
  int slots() const { return processes * threads; }
  bool ranks() const { return std::string_view(kind) == "ranks"; }
};
constexpr Topology kTopologies[] = {{"one process", 1, 1},
                                    {"three threads", 1, 3},
                                    {"three forked processes", 3, 1},
                                    {"three spawned processes", 3, 1, "spawn"},
                                    {"four ranks under mpirun", 4, 1, "ranks"}};

bool has_mpirun() {
  static const bool found = std::system("mpirun --version >/dev/null 2>&1") == 0;
  return found;
}

/// Calls `check(topology)` for each that can be had here.
template <class Check>
void for_each_topology(Check check) {
  for (const Topology& topology : kTopologies) {
    if (topology.ranks() && !has_mpirun()) {
      MESSAGE("[skipped] four ranks: there is no mpirun here");
      continue;
    }
    CAPTURE(topology.name);
    check(topology);
  }
}

/// What the workers counted after each committed range.
std::vector<std::uint64_t> side_counts(const std::filesystem::path& side) {
  std::vector<std::uint64_t> counts(kMaxSlots);
  std::ifstream file(side, std::ios::binary);
  file.read(reinterpret_cast<char*>(counts.data()), kMaxSlots * sizeof(std::uint64_t));
  return counts;
}

std::int64_t sum_of_counts(const std::filesystem::path& side) {
  std::vector<std::uint64_t> counts = side_counts(side);
  return static_cast<std::int64_t>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
}

void check_nothing_lost(const std::filesystem::path& trace, const std::filesystem::path& side,
                        const Topology& topology) {
  CHECK(intact(trace));
  CHECK(
      number(trace,
             "SELECT count(*) FROM HEADWAY_LOSS WHERE severity = 'loss' AND name <> 'ring_full'") ==
      0);
  std::vector<std::uint64_t> counts = side_counts(side);
  // The workers' pace is their own; on a machine that has no time for the recorder (a sanitizer
  // beside other builds), what did not fit is counted. A range that was dropped is one event.
  const std::int64_t dropped = loss(trace, "ring_full");
  for (int slot = 0; slot < topology.slots(); ++slot) {
    std::int64_t counted = static_cast<std::int64_t>(counts[static_cast<std::size_t>(slot)]);
    std::int64_t recorded = ranges(trace, "slot " + std::to_string(slot));
    CHECK(counted > 0);
    CHECK(recorded + dropped >= counted);
    CHECK(recorded <= counted + 1);  // one may have been ended and not counted yet
  }
  CHECK(number(trace, "SELECT count(*) FROM HEADWAY_PROCESS WHERE injected=1") ==
        topology.processes);
}

std::vector<std::string> worker_command(const std::filesystem::path& side, const Topology& topology,
                                        const char* ending, const char* ranges = "1000") {
  std::vector<std::string> command;
  // Open MPI refuses root and more ranks than cores unless it is told otherwise; others know no such
  // options, but everybody takes variables.
  if (topology.ranks())
    command = {"env",
               "OMPI_ALLOW_RUN_AS_ROOT=1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
               "OMPI_MCA_rmaps_base_oversubscribe=1",
               "mpirun",
               "-n",
               std::to_string(topology.processes)};
  const std::string worker[] = {target("worker"),
                                side.string(),
                                std::to_string(topology.processes),
                                std::to_string(topology.threads),
                                ending,
                                ranges,
                                topology.kind};
  command.insert(command.end(), std::begin(worker), std::end(worker));
  return command;
}

void check_ending(const char* ending, int expected_status) {
  for_each_topology([&](const Topology& topology) {
    CAPTURE(ending);
    TemporaryFolder folder;
    std::filesystem::path side = folder / "side";
    Recorded run = record(folder, worker_command(side, topology, ending));
    CHECK(run.finished.status == expected_status);
    check_nothing_lost(run.trace, side, topology);
    CHECK(meta(run.trace, "state") == "complete");
    // mpirun turns the signal of a rank into an exit code of its own.
    bool by_signal = expected_status > 128 && !topology.ranks();
    CHECK(meta(run.trace, by_signal ? "exit_signal" : "exit_code") ==
          std::to_string(by_signal ? expected_status - 128 : expected_status));
  });
}

/// Starts workers that never end by themselves, and waits until all of them record.
void start_workers(Recorder& recorder, const std::filesystem::path& side,
                   const Topology& topology) {
  recorder.start();
  REQUIRE(eventually([&] {
    std::vector<std::uint64_t> counts = side_counts(side);
    for (int slot = 0; slot < topology.slots(); ++slot) {
      if (counts[static_cast<std::size_t>(slot)] < 300) return false;
    }
    return true;
  }));
}

std::vector<std::string> endless(const std::filesystem::path& trace,
                                 const std::filesystem::path& side, const Topology& topology,
                                 const char* ending) {
  std::vector<std::string> arguments = {"-o", trace.string(), "--"};
  std::vector<std::string> command = worker_command(side, topology, ending);
  arguments.insert(arguments.end(), command.begin(), command.end());
  return arguments;
}

/// Until nobody works any more: the children see the parent's end, ranks the file.
void wait_until_still(const std::filesystem::path& side) {
  CHECK(eventually([&] {
    const std::int64_t before = sum_of_counts(side);
    sleep_ms(50);
    return sum_of_counts(side) == before;
  }));
}

/// mpirun ends with a code of its own when it is signalled; other commands by the signal.
void check_signalled(const Finished& finished, const std::filesystem::path& trace,
                     const Topology& topology, int signal) {
  if (topology.ranks()) {
    CHECK(finished.status != 0);
    CHECK(meta(trace, "exit_code") == std::to_string(finished.status));
  } else {
    CHECK(finished.status == 128 + signal);
    CHECK(meta(trace, "exit_signal") == std::to_string(signal));
  }
}

Finished in_namespace(std::vector<std::string> words, const std::vector<std::string>& command) {
  words.insert(words.end(), command.begin(), command.end());
  Recorder recorder({});
  recorder.instead(std::move(words)).start();
  return recorder.wait();
}

}  // namespace

TEST_CASE("a program that returns loses nothing") {
  check_ending("return", 5);
}
TEST_CASE("a program that calls _exit loses nothing") {
  check_ending("exit", 7);
}
TEST_CASE("a launcher's exit code stands beside the signal of the rank that it hides") {
  TemporaryFolder folder;
  const std::string side = (folder / "side").string();
  const std::string trace = (folder / "run.sqlite").string();
  // The shell asks for the status of its child at once, and says nothing of it.
  for (const auto& [ending, signal, name] :
       {std::tuple{"kill", SIGKILL, "Killed"}, std::tuple{"segv", SIGSEGV, "Segmentation fault"}}) {
    CAPTURE(ending);
    const std::string worker =
        fmt::format("RANK=3 WORLD_SIZE=4 '{}' '{}' 1 1 {} 1000", target("worker"), side, ending);
    Recorder recorder({"--force", "-o", trace, "--", "sh", "-c", worker + "; exit 5"});
    recorder.start();
    const Finished finished = recorder.wait();
    CHECK(finished.status == 5);
    CHECK(number(trace, "SELECT signal FROM HEADWAY_PROCESS WHERE rank = 3 AND injected = 1") ==
          signal);
    CHECK(finished.err.find("ended with exit code 5: rank 3 (process ") != std::string::npos);
    CHECK(finished.err.find(fmt::format("was ended by signal {} ({})", signal, name)) !=
          std::string::npos);
  }
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
  for_each_topology([&](const Topology& topology) {
    TemporaryFolder folder;
    Recorder recorder(endless(folder / "run.sqlite", folder / "side", topology, "wait"));
    start_workers(recorder, folder / "side", topology);
    ::kill(recorder.pid(), SIGTERM);
    Finished finished = recorder.wait();
    check_signalled(finished, folder / "run.sqlite", topology, SIGTERM);
    if (!topology.ranks()) CHECK(finished.err.find("was ended by signal 15") != std::string::npos);
    check_nothing_lost(folder / "run.sqlite", folder / "side", topology);
    CHECK(meta(folder / "run.sqlite", "interrupted") == "1");
  });
}

TEST_CASE("Ctrl-C in a terminal ends the program once, and nothing committed is lost") {
  if (!has_terminals()) {
    MESSAGE("[skipped] there are no pseudo-terminals here (/dev/pts)");
    return;
  }
  for_each_topology([&](const Topology& topology) {
    TemporaryFolder folder;
    Recorder recorder(endless(folder / "run.sqlite", folder / "side", topology, "wait"));
    recorder.on_terminal();
    start_workers(recorder, folder / "side", topology);
    recorder.type("\x03");
    Finished finished = recorder.wait();
    check_signalled(finished, folder / "run.sqlite", topology, SIGINT);
    check_nothing_lost(folder / "run.sqlite", folder / "side", topology);
  });
}

TEST_CASE("a program that ignores Ctrl-C can be left with a second one") {
  if (!has_terminals()) {
    MESSAGE("[skipped] there are no pseudo-terminals here (/dev/pts)");
    return;
  }
  TemporaryFolder folder;
  std::filesystem::path side = folder / "side";
  Topology topology = kTopologies[0];
  Recorder recorder(endless(folder / "run.sqlite", side, topology, "ignore"));
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
  for_each_topology([&](const Topology& topology) {
    TemporaryFolder folder;
    std::filesystem::path side = folder / "side";
    Recorder recorder(endless(folder / "run.sqlite", side, topology, "ignore"));
    start_workers(recorder, side, topology);
    std::vector<std::uint64_t> early = side_counts(side);
    // What is committed every 200 ms, or whenever the machine lets the recorder.
    auto is_committed = [&](int slot) {
      try {
        return ranges(folder / "run.sqlite", "slot " + std::to_string(slot)) >=
               static_cast<std::int64_t>(early[static_cast<std::size_t>(slot)]);
      } catch (const std::exception&) {  // the table is not there yet
        return false;
      }
    };
    for (int slot = 0; slot < topology.slots(); ++slot)
      CHECK(eventually([&] { return is_committed(slot); }));
    ::kill(recorder.pid(), SIGKILL);
    std::uint64_t before = side_counts(side)[0];
    // Longer than the rings hold: they fill up, and the program does not wait for anybody.
    CHECK(eventually([&] { return side_counts(side)[0] > before + 40'000; }));
    std::ofstream(side.string() + ".stop") << "stop";
    Finished finished = recorder.wait();
    CHECK(finished.status == 128 + SIGKILL);
    CHECK(intact(folder / "run.sqlite"));
    CHECK(meta(folder / "run.sqlite", "state") == "recording");
    for (int slot = 0; slot < topology.slots(); ++slot) CHECK(is_committed(slot));
    wait_until_still(side);
  });
}

TEST_CASE("on a full disk the program is not disturbed, and all that is not stored is counted") {
  // In a mount namespace of its own, for which no right is needed where users may have them.
  std::vector<std::string> alone = {"unshare", "--mount"};
  if (::geteuid() != 0) alone.emplace_back("--map-root-user");
  if (in_namespace(alone, {"mount", "-t", "tmpfs", "-o", "size=1m", "none", "/mnt"}).status != 0) {
    MESSAGE("[skipped] a small tmpfs cannot be mounted here");
    return;
  }
  for_each_topology([&](const Topology& topology) {
    TemporaryFolder folder;
    std::filesystem::path side = folder / "side";
    const std::string ranges_each = std::to_string(90'000 / topology.slots());
    std::vector<std::string> command =
        worker_command(side, topology, "return", ranges_each.c_str());
    // The trace is gone with the namespace, so it is copied out. The status is that of headway.
    std::vector<std::string> words = {"sh",
                                      "-c",
                                      R"(small=$1/small; headway=$2; shift 2
           mkdir "$small" && mount -t tmpfs -o size=3m none "$small" || exit 99
           "$headway" record -o "$small/run.sqlite" -- "$@"
           status=$?; cp "$small"/run.sqlite* "$small/.."; exit $status)",
                                      "sh",
                                      folder.path().string(),
                                      program("headway")};
    words.insert(words.end(), command.begin(), command.end());
    Finished finished = in_namespace(alone, words);
    CHECK(finished.status == 5);
    CHECK(finished.err.find("the disk is full") != std::string::npos);
    std::filesystem::path trace = folder / "run.sqlite";
    CHECK(intact(trace));
    std::int64_t stored = 0;
    for (int slot = 0; slot < topology.slots(); ++slot)
      stored += ranges(trace, "slot " + std::to_string(slot));
    CHECK(stored > 1000);
    CHECK(stored < sum_of_counts(side));
    const std::int64_t counted = loss(trace, "disk_full");
    // A starved recorder drops some before it could store them, so that only the indexes may not fit.
    const std::int64_t dropped = loss(trace, "ring_full");
    // The summary always tells; the file where a last checkpoint made room for it.
    CHECK((dropped > 0 || finished.err.find("disk_full") != std::string::npos));
    CHECK((counted == 0 || stored + counted + dropped >= sum_of_counts(side)));
  });
}

TEST_CASE("refused shared memory costs the recording of that process, and nothing else") {
  for_each_topology([&](const Topology& topology) {
    TemporaryFolder folder;
    std::filesystem::path side = folder / "side";
    std::vector<std::string> command = worker_command(side, topology, "return", "200");
    auto worker = std::find(command.begin(), command.end(), target("worker"));
    command.insert(worker, {target("forbid"), "memfd"});
    std::vector<std::string> arguments = {"-o", (folder / "run.sqlite").string(), "--"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    Recorder recorder(arguments);
    recorder.start();
    Finished finished = recorder.wait();
    if (finished.status == 77) {
      MESSAGE("[skipped] seccomp cannot be used here");
      return;
    }
    CHECK(finished.status == 5);
    CHECK(sum_of_counts(side) == 200 * topology.slots());
    CHECK(intact(folder / "run.sqlite"));
    CHECK(meta(folder / "run.sqlite", "state") == "complete");
    CHECK(finished.err.find("(memfd_create)") != std::string::npos);
    CHECK(number(folder / "run.sqlite", "SELECT count(*) FROM NVTX_EVENTS") == 0);
    // Forked children know from their parent that there is no tool; others ask for themselves.
    const bool forked = std::string_view(topology.kind) == "fork";
    CHECK(loss(folder / "run.sqlite", "process_not_injected") >= (forked ? 1 : topology.processes));
  });
}

}  // namespace headway::test
