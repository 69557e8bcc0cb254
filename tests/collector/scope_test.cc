// SPDX-License-Identifier: MIT
// What of a run is recorded: `headway record` with each choice on tests/targets/steps.
#include <doctest/doctest.h>

#include <csignal>
#include <exception>
#include <fstream>

#include "analyzer/analysis.h"
#include "tests/collector/run_recorder.h"
#include "trace/load/load.h"

namespace headway::test {
namespace {

std::vector<std::string> steps(const std::string& count, const std::string& us,
                               const std::vector<std::string>& words = {}) {
  std::vector<std::string> command = {target("steps"), count, us};
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

/// All ranges of that name, also those without an end.
std::int64_t begun(const std::filesystem::path& trace, const std::string& name) {
  return number(
      trace, "SELECT count(*) FROM NVTX_EVENTS JOIN StringIds ON id=textId WHERE value=?1", {name});
}

/// The numbers of the steps in the trace, "10 11 12".
std::string step_numbers(const std::filesystem::path& trace) {
  std::string text;
  for (const auto& row : query(trace, "SELECT step FROM HEADWAY_RANGE WHERE kind=1 ORDER BY step"))
    text += (text.empty() ? "" : " ") + row[0];
  return text;
}

/// Also while it is being made.
bool is_complete(const std::filesystem::path& trace) {
  try {
    return meta(trace, "state") == "complete";
  } catch (const std::exception&) {
    return false;
  }
}

std::string scope(const std::filesystem::path& trace) {
  return meta(trace, "scope");
}

}  // namespace

TEST_CASE("--steps records these steps whole and nothing before, after or around them") {
  for (const char* word : {"numbered", ""}) {
    CAPTURE(word);
    TemporaryFolder folder;
    Recorded run = record(folder, steps("30", "2000", {word, "threads"}), {"--steps", "10:19"});
    CHECK(run.finished.status == 9);
    CHECK(step_numbers(run.trace) == "10 11 12 13 14 15 16 17 18 19");
    CHECK(ranges(run.trace, "work") == 10);
    CHECK(begun(run.trace, "epoch") == 0);
    CHECK(begun(run.trace, "setup") + begun(run.trace, "teardown") == 0);
    CHECK(begun(run.trace, "other") > 5);
    CHECK(begun(run.trace, "other") < 45);
    CHECK(number(run.trace,
                 "SELECT count(*) FROM NVTX_EVENTS WHERE eventType=59 AND end IS NULL") == 0);
    CHECK(scope(run.trace).starts_with("steps 10 to 19: 10 steps, "));
    CHECK(meta(run.trace, "scope.options") == "--steps 10:19");
    CHECK(meta(run.trace, "scope.windows") == "1");
    CHECK(std::stoll(meta(run.trace, "scope.events_left_out")) >= 40);
    // What was chosen not to be there is no loss.
    CHECK(number(run.trace, "SELECT count(*) FROM HEADWAY_LOSS WHERE severity='loss'") == 0);
  }
}

TEST_CASE("--steps counts declared steps by their own numbers, and named ranges where it is told") {
  TemporaryFolder folder;
  Recorded run = record(folder, steps("10", "1000", {"declared"}), {"--steps", "103:104"});
  CHECK(step_numbers(run.trace) == "103 104");
  TemporaryFolder named;
  run = record(named, steps("10", "1000", {"unnamed"}), {"--steps", "3:4", "--step-range", "un*"});
  CHECK(step_numbers(run.trace) == "3 4");
}

TEST_CASE("what never came is told, with the last step or the lack of any") {
  TemporaryFolder folder;
  Recorded run = record(folder, steps("5", "500"), {"--steps", "10:20"});
  CHECK(run.finished.status == 9);
  CHECK(scope(run.trace).starts_with("steps 10 to 20: "));
  CHECK(scope(run.trace).find("number 4; 13 events") != std::string::npos);
  TemporaryFolder unnamed;
  run = record(unnamed, steps("5", "500", {"unnamed"}), {"--steps", "10:20"});
  CHECK(scope(run.trace).find("--step-range") != std::string::npos);
  TemporaryFolder capture;
  run = record(capture, steps("5", "500"), {"--capture-range", "nvtx:profiled"});
  CHECK(scope(run.trace).find("while range 'profiled' was open: that never came") !=
        std::string::npos);
}

TEST_CASE("a loader worker is recorded while its parent makes the steps that were chosen") {
  TemporaryFolder folder;
  Recorded run = record(folder, steps("60", "5000", {"worker"}), {"--steps", "20:39"});
  CHECK(step_numbers(run.trace).starts_with("20 21 "));
  // 100 ms of 300: about 90 batches of 1.1 ms.
  CHECK(begun(run.trace, "batch") > 20);
  CHECK(begun(run.trace, "batch") < 150);
  CHECK(
      number(run.trace,
             "SELECT count(*) FROM NVTX_EVENTS b JOIN StringIds s ON s.id=b.textId WHERE "
             "s.value='batch' AND (b.start < (SELECT min(start) FROM NVTX_EVENTS n JOIN StringIds "
             "t ON t.id=n.textId WHERE t.value='step') OR b.start >= (SELECT max(\"end\") FROM "
             "NVTX_EVENTS n JOIN StringIds t ON t.id=n.textId WHERE t.value='step'))") == 0);
}

TEST_CASE("counters are cut to the windows, sampled ones by the time that they stand for") {
  TemporaryFolder folder;
  Recorded run = record(folder, steps("40", "10000", {"counter"}),
                        {"--sample-steps", "2:20", "--sample-hz", "100"});
  CHECK(step_numbers(run.trace) == "0 1 20 21");
  CHECK(query(run.trace,
              "SELECT CAST(value AS INTEGER) FROM HEADWAY_COUNTER c JOIN HEADWAY_COUNTER_SERIES s "
              "ON s.id = c.seriesId WHERE s.name = 'mine.progress' ORDER BY timestamp") ==
        Rows{{"0"}, {"1"}, {"20"}, {"21"}});
  // Of the machine: none between the windows but the first after each, which tells of its end.
  const std::string sampled =
      "SELECT count(*) FROM HEADWAY_COUNTER c JOIN HEADWAY_COUNTER_SERIES s ON s.id = c.seriesId "
      "WHERE s.name = 'machine.memory_available'";
  const std::string between =
      " AND timestamp > (SELECT \"end\" FROM NVTX_EVENTS e JOIN HEADWAY_RANGE r ON r.rangeRow = "
      "e.rowid WHERE step = 1) AND timestamp < (SELECT start FROM NVTX_EVENTS e JOIN HEADWAY_RANGE "
      "r ON r.rangeRow = e.rowid WHERE step = 20)";
  CHECK(number(run.trace, sampled) >= 2);
  CHECK(number(run.trace, sampled + between) <= 1);
}

TEST_CASE("--sample-steps keeps the first of each group, and the analyzer sees the leaps") {
  TemporaryFolder folder;
  Recorded run = record(folder, steps("40", "1000"), {"--sample-steps", "3:10"});
  CHECK(step_numbers(run.trace) == "0 1 2 10 11 12 20 21 22 30 31 32");
  CHECK(meta(run.trace, "scope.windows") == "4");
  CHECK(scope(run.trace).starts_with("the first 3 of every 10 steps: 12 steps, 4 windows, "));
  trace::Trace trace = trace::load(run.trace);
  analyzer::Analysis analysis = analyzer::analyze(trace);
  REQUIRE(analysis.steps.all.size() == 12);
  CHECK(analysis.steps.all[3].number == 10);
  CHECK_FALSE(analysis.steps.all[3].steady);
  CHECK(analysis.steps.all[4].steady);
}

TEST_CASE("--delay and --duration keep a stretch of time, and the program runs on unrecorded") {
  TemporaryFolder folder;
  Recorded run = record(folder, steps("400", "5000"), {"--delay", "500ms", "--duration", "0.5"});
  CHECK(run.finished.status == 9);
  CHECK(begun(run.trace, "setup") + begun(run.trace, "epoch") == 0);
  CHECK(begun(run.trace, "teardown") == 0);
  CHECK(begun(run.trace, "step") > 30);
  CHECK(begun(run.trace, "step") < 110);
  CHECK(number(run.trace,
               "SELECT count(*) FROM NVTX_EVENTS WHERE eventType=59 AND start < "
               "500000000") == 0);
  CHECK(number(run.trace,
               "SELECT count(*) FROM NVTX_EVENTS WHERE eventType=59 AND start >= 1000000000") == 0);
  CHECK(number(run.trace, "SELECT count(*) FROM HEADWAY_COUNTER WHERE timestamp < 500000000") == 0);
  CHECK(meta(run.trace, "scope.ended") == "--duration");
  CHECK(meta(run.trace, "duration_ns") == "1000000000");
  CHECK(meta(run.trace, "state") == "complete");
}

TEST_CASE("the trace is complete while the program runs on, which costs it next to nothing") {
  TemporaryFolder folder;
  std::filesystem::path side = folder / "side";
  Recorder recorder({"-o", (folder / "run.sqlite").string(), "--duration", "1", "--",
                     target("worker"), side.string(), "1", "1", "ignore"});
  recorder.start();
  REQUIRE(eventually([&] { return is_complete(folder / "run.sqlite"); }));
  const std::int64_t recorded = ranges(folder / "run.sqlite", "slot 0");
  CHECK(recorded > 100);
  sleep_ms(200);
  std::ofstream(side.string() + ".stop") << "stop";
  Finished finished = recorder.wait();
  CHECK(finished.status == 0);
  CHECK(finished.err.find("the recording is over; ") != std::string::npos);
  CHECK(finished.err.find("chosen: the first 1.00 s") != std::string::npos);
  CHECK(ranges(folder / "run.sqlite", "slot 0") == recorded);
  CHECK(loss(folder / "run.sqlite", "ring_full") == 0);
}

TEST_CASE("--kill ends the command when the recording ends") {
  TemporaryFolder folder;
  Recorded run =
      record(folder, steps("100000", "1000"), {"--duration", "0.2", "--kill", "sigterm"});
  CHECK(run.finished.status == 128 + SIGTERM);
  CHECK(begun(run.trace, "step") > 10);
}

TEST_CASE("--capture-range records while the range is open, in its domain only") {
  TemporaryFolder folder;
  Recorded run = record(folder, steps("30", "1000", {"capture=5:8"}),
                        {"--capture-range", "nvtx:profiled@mine"});
  CHECK(ranges(run.trace, "profiled") == 1);
  CHECK(ranges(run.trace, "work") == 4);
  CHECK(step_numbers(run.trace) == "5 6 7 8");
  CHECK(scope(run.trace).starts_with("while range 'profiled' of domain 'mine' was open: "));
  TemporaryFolder other;
  run = record(other, steps("30", "1000", {"capture=5:8"}),
               {"--capture-range", "nvtx:profiled@theirs"});
  CHECK(begun(run.trace, "work") == 0);
}

TEST_CASE("--ring keeps the last seconds, however the program ends") {
  TemporaryFolder folder;
  Recorded run = record(folder, steps("300", "5000"), {"--ring", "0.5"});
  CHECK(run.finished.status == 9);
  CHECK(ranges(run.trace, "teardown") == 1);
  CHECK(begun(run.trace, "setup") + begun(run.trace, "epoch") == 0);
  CHECK(begun(run.trace, "step") > 30);
  CHECK(begun(run.trace, "step") < 105);
  CHECK(number(run.trace, "SELECT max(timestamp)-min(timestamp) FROM HEADWAY_COUNTER") <=
        600'000'000);
  CHECK(scope(run.trace).starts_with("the last 500 ms: "));
  TemporaryFolder killed;
  std::filesystem::path side = killed / "side";
  run = record(killed, {target("worker"), side.string(), "1", "1", "segv", "300000"},
               {"--ring", "0.3"});
  CHECK(run.finished.status == 128 + SIGSEGV);
  CHECK(intact(run.trace));
  const std::int64_t kept = ranges(run.trace, "slot 0");
  CHECK(kept > 1000);
  CHECK(kept < 300'000);
}

TEST_CASE("--max-size ends the recording at about that size") {
  TemporaryFolder folder;
  std::filesystem::path side = folder / "side";
  Recorded run = record(folder, {target("worker"), side.string(), "1", "1", "return", "400000"},
                        {"--max-size", "4MB", "--cuda", "off"});
  CHECK(run.finished.status == 5);
  CHECK(ranges(run.trace, "slot 0") > 10'000);
  CHECK(ranges(run.trace, "slot 0") < 200'000);
  CHECK(std::filesystem::file_size(run.trace) < 7'000'000);
  CHECK(std::filesystem::file_size(run.trace) > 3'000'000);
  CHECK(scope(run.trace).starts_with("until the file had 4.00 MB: "));
  CHECK(loss(run.trace, "disk_full") == 0);
}

TEST_CASE("--include-children off records the command alone") {
  TemporaryFolder folder;
  Recorded run = record(folder, steps("20", "1000", {"worker"}), {"--include-children", "off"});
  CHECK(begun(run.trace, "step") == 20);
  CHECK(begun(run.trace, "batch") == 0);
  CHECK(meta(run.trace, "scope.processes_left_out") == "1");
  CHECK(scope(run.trace) == "without child processes; 1 process excluded");
}

TEST_CASE("--ranks records the processes of these ranks") {
  TemporaryFolder folder;
  const std::string self = "'" + target("steps") + "' 5 1000 numbered";
  Recorded run =
      record(folder, {"sh", "-c", "RANK=0 " + self + "; RANK=1 " + self + "; RANK=2 " + self},
             {"--ranks", "0,2-3"});
  CHECK(begun(run.trace, "step 4") == 2);
  CHECK(number(run.trace, "SELECT count(*) FROM HEADWAY_PROCESS WHERE injected=1 AND rank=1") == 0);
  CHECK(scope(run.trace) == "only some ranks; 1 process excluded");
}

TEST_CASE("a recorder of one rank that was not chosen becomes the command, and writes nothing") {
  TemporaryFolder folder;
  Recorder recorder(
      {"-o", (folder / "run.sqlite").string(), "--ranks", "0", "--", "sh", "-c", "exit 6"});
  recorder.with("OMPI_COMM_WORLD_RANK=3");
  recorder.start();
  Finished finished = recorder.wait();
  CHECK(finished.status == 6);
  CHECK(finished.err == "headway: rank 3 is not recorded (--ranks 0)\n");
  CHECK_FALSE(std::filesystem::exists(folder / "run.sqlite"));
}

TEST_CASE("choices that contradict each other, and values that are none, start nothing") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--steps", "1:2", "--ring", "5"}, "--steps and --ring"},
      {{"--steps", "1:2", "--delay", "5"}, "--steps and --delay"},
      {{"--ring", "5", "--max-size", "1GB"}, "--max-size"},
      {{"--steps", "20:10"}, "the first step is after the last one"},
      {{"--steps", "a:b"}, "expected step numbers such as 10:20"},
      {{"--sample-steps", "5"}, "expected K:N"},
      {{"--sample-steps", "5:5"}, "5 of every 5 steps"},
      {{"--capture-range", "profiled"}, "expected nvtx:NAME"},
      {{"--capture-range", "nvtx:a@"}, "after @ is missing"},
      {{"--duration", "0"}, "expected seconds above zero"},
      {{"--delay", "soon"}, "expected seconds"},
      {{"--delay", "5 parsecs"}, "expected seconds"},
      {{"--max-size", "500"}, "expected a number with one of MB"},
      {{"--max-size", "10kB"}, "at least 1MB"},
      {{"--ranks", "3-1"}, "expected ranks such as"},
      {{"--step-range", "x"}, "--sample-steps"},
      {{"--include-children", "no"}, "on,off"},
      {{"--kill", "sighup"}, "none,sigint,sigterm,sigkill"}};
  for (const auto& [options, expected] : cases) {
    CAPTURE(options[0]);
    CAPTURE(options[1]);
    TemporaryFolder folder;
    std::vector<std::string> arguments = {"-o", (folder / "run.sqlite").string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--", "touch", (folder / "started").string()});
    Recorder recorder(arguments);
    recorder.start();
    Finished finished = recorder.wait();
    CHECK(finished.status == 2);
    CHECK_MESSAGE(finished.err.find(expected) != std::string::npos, finished.err);
    CHECK_FALSE(std::filesystem::exists(folder / "started"));
    CHECK_FALSE(std::filesystem::exists(folder / "run.sqlite"));
  }
}

}  // namespace headway::test
