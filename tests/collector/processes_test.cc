// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/collector/run_recorder.h"

namespace headway::test {
namespace {

/// Names of ended ranges of default domain by process, e.g. "child" -> number of processes with it.
std::int64_t processes_with(const std::filesystem::path& trace, const std::string& name) {
  return number(trace,
                "SELECT count(DISTINCT globalTid>>24) FROM NVTX_EVENTS JOIN StringIds ON id=textId "
                "WHERE value=?1",
                {name});
}

}  // namespace

TEST_CASE("a forked child records on its own, with all that it inherited") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("processes"), "fork"});
  REQUIRE(run.finished.status == 0);
  for (const char* name : {"parent", "child", "grandchild"}) CHECK(ranges(run.trace, name) == 1);
  CHECK(ranges(run.trace, "busy") == 200);
  // Handles from before the fork mean the same in parent and child; each may add its own.
  CHECK(processes_with(run.trace, "registered before") == 2);
  CHECK(processes_with(run.trace, "parent's own") == 1);
  CHECK(processes_with(run.trace, "child's own") == 2);  // the child and its own child
  CHECK(number(run.trace, "SELECT count(DISTINCT domainId) FROM NVTX_EVENTS WHERE eventType=75") ==
        1);
  CHECK(ranges(run.trace, "around the fork") == 1);
  CHECK(number(run.trace, "SELECT count(*) FROM HEADWAY_PROCESS WHERE injected=1") == 3);
  CHECK(number(run.trace,
               "SELECT count(*) FROM HEADWAY_PROCESS c JOIN HEADWAY_PROCESS p ON "
               "c.parentPid=p.globalPid>>24") == 2);
  CHECK(loss(run.trace, "ring_full") == 0);
  CHECK(loss(run.trace, "shared_memory_corrupt") == 0);
}

TEST_CASE("a clone that no library hears of records on its own") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("processes"), "clone"});
  REQUIRE(run.finished.status == 0);
  CHECK(ranges(run.trace, "parent") == 2);
  CHECK(ranges(run.trace, "child") == 1);
  CHECK(number(run.trace, "SELECT count(*) FROM HEADWAY_PROCESS WHERE injected=1") == 2);
  CHECK(loss(run.trace, "shared_memory_corrupt") == 0);
}

TEST_CASE("vfork harms neither side") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("processes"), "vfork"});
  REQUIRE(run.finished.status == 0);
  CHECK(ranges(run.trace, "parent") == 2);
  CHECK(loss(run.trace, "shared_memory_corrupt") == 0);
}

TEST_CASE("exec starts a new recording in the same process, ranges open at exec stay open") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("processes"), "exec"});
  REQUIRE(run.finished.status == 0);
  CHECK(ranges(run.trace, "before exec") == 1);
  CHECK(ranges(run.trace, "after exec") == 1);
  CHECK(number(run.trace,
               "SELECT count(*) FROM NVTX_EVENTS JOIN StringIds ON id=textId WHERE end IS NULL AND "
               "value='open at exec'") == 1);
  CHECK(number(run.trace, "SELECT count(*) FROM HEADWAY_PROCESS") == 1);
  CHECK(query(run.trace, "SELECT commandLine FROM HEADWAY_PROCESS")[0][0].find("after-exec") !=
        std::string::npos);
}

TEST_CASE("two hundred processes at once are recorded, or named") {
  TemporaryFolder folder;
  const std::filesystem::path path = folder / "run.sqlite";
  Recorder recorder(
      {"-o", path.string(), "--", "sh", "-c",
       "i=0; while [ $i -lt 200 ]; do '" + target("threads") + "' 2 1 & i=$((i+1)); done; wait"});
  recorder.start();
  const Finished finished = recorder.wait();
  CHECK(finished.status == 0);
  const std::int64_t recorded =
      number(path, "SELECT count(*) FROM HEADWAY_PROCESS WHERE injected=1");
  CHECK(ranges(path, "on a thread") == 20 * recorded);
  CAPTURE(finished.err);
  CHECK((recorded == 200 || finished.err.find("not recorded: ") != std::string::npos));
}

TEST_CASE("a process without the environment of the recording is named") {
  TemporaryFolder folder;
  auto said = [&](std::vector<std::string> command) {
    std::vector<std::string> arguments = {"-o", (folder / "run.sqlite").string(), "--force", "--"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    Recorder recorder(arguments);
    recorder.start();
    return recorder.wait().err;
  };
  const std::string line = "from outside only";
  // The program comes late, as it does on a machine that is busy.
  const std::string cleared = said({"sh", "-c", "sleep 0.4; exec env -i sleep 0.5"});
  CHECK(cleared.find(line) != std::string::npos);
  CHECK(cleared.find("(sleep)") != std::string::npos);
  CHECK(said({"sh", "-c", "sleep 0.5"}).find(line) == std::string::npos);
}

TEST_CASE("--wait all stays for a daemon, --wait primary does not") {
  TemporaryFolder all;
  Recorded run = record(all, {target("processes"), "daemon"});
  CHECK(run.finished.status == 0);
  CHECK(ranges(run.trace, "daemon") == 1);
  TemporaryFolder primary;
  run = record(primary, {target("processes"), "daemon"}, {"--wait", "primary"});
  CHECK(run.finished.status == 0);
  CHECK(ranges(run.trace, "parent") == 1);
  CHECK(ranges(run.trace, "daemon") == 0);
}

TEST_CASE("the summary tells which processes it waits for") {
  TemporaryFolder folder;
  Recorder recorder(
      {"-o", (folder / "run.sqlite").string(), "--", "sh", "-c", "sleep 1.5 & exit 4"});
  recorder.start();
  Finished finished = recorder.wait();
  CHECK(finished.status == 4);
  CHECK(finished.err.find("sh has ended; waiting for ") != std::string::npos);
}

TEST_CASE("the tree of a shell command is recorded, with exit codes and command lines") {
  TemporaryFolder folder;
  Recorded run =
      record(folder, {"sh", "-c", "sleep 0.5; '" + target("processes") + "' vfork; exit 3"});
  CHECK(run.finished.status == 3);
  CHECK(ranges(run.trace, "parent") == 2);
  CHECK(query(run.trace, "SELECT exitCode FROM HEADWAY_PROCESS WHERE commandLine LIKE 'sh -c%'") ==
        Rows{{"3"}});
  CHECK(number(run.trace,
               "SELECT count(*) FROM HEADWAY_PROCESS WHERE commandLine='sleep 0.5' AND injected=0 "
               "AND end-start>300000000") == 1);
  CHECK(loss(run.trace, "process_not_injected") >= 2);
}

}  // namespace headway::test
