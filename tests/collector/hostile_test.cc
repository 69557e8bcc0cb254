// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/collector/run_recorder.h"

namespace headway::test {

TEST_CASE("a program that closes all descriptors and reuses their numbers is left in peace") {
  TemporaryFolder folder;
  Recorded run =
      record(folder, {target("hostile"), "close-all", (folder / "its own file").string()});
  CHECK(run.finished.status == 0);
  CHECK(ranges(run.trace, "before") == 10);
  CHECK(ranges(run.trace, "after") == 10);
}

TEST_CASE("closed standard streams are not taken over") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("hostile"), "no-standard-streams"});
  CHECK(run.finished.status == 0);
  CHECK(ranges(run.trace, "without stdin") == 10);
}

TEST_CASE("a program under RLIMIT_AS keeps its address space") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("hostile"), "address-space"});
  CHECK(run.finished.status == 0);
  CHECK(ranges(run.trace, "full") == 10);
}

TEST_CASE(
    "a program under RLIMIT_FSIZE gets no SIGXFSZ, and the summary says why it was not recorded") {
  TemporaryFolder folder;
  Recorder recorder({"-o", (folder / "run.sqlite").string(), "--", target("hostile"), "file-size"});
  recorder.start();
  Finished finished = recorder.wait();
  CHECK(finished.status == 0);
  CHECK(finished.err.find("its limits (ulimit -f, ulimit -v) leave no room") != std::string::npos);
}

TEST_CASE("a child with less room than its parent's texts take runs unrecorded, and that is said") {
  TemporaryFolder folder;
  std::string trace = (folder / "run.sqlite").string();
  Recorder recorder({"-o", trace, "--", target("hostile"), "narrow-child"});
  recorder.start();
  Finished finished = recorder.wait();
  CHECK(finished.status == 0);
  CHECK(finished.err.find("leave no room for shared memory") != std::string::npos);
  CHECK(ranges(trace, "parent") == 20);
  CHECK(loss(trace, "shared_memory_corrupt") == 0);
}

TEST_CASE("events of a signal handler that interrupts another event are dropped and counted") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("hostile"), "handler"});
  CHECK(run.finished.status == 0);
  CHECK(ranges(run.trace, "interrupted") == 20'000);
  CHECK(ranges(run.trace, "in the handler") > 0);
  CHECK(loss(run.trace, "shared_memory_corrupt") == 0);
  CHECK(loss(run.trace, "nvtx_pop_without_push") == 0);
  CHECK(number(run.trace, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType=75") == 50);
}

TEST_CASE("events on a small alternate stack are recorded") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("hostile"), "small-stack"});
  CHECK(run.finished.status == 0);
  CHECK(ranges(run.trace, "on a small stack") == 20);
}

TEST_CASE("recording leaves errno alone") {
  TemporaryFolder folder;
  CHECK(record(folder, {target("hostile"), "errno"}).finished.status == 0);
}

TEST_CASE("more registered text than the recorder has room for costs neither names nor domains") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("hostile"), "definitions"});
  CHECK(run.finished.status == 0);
  CHECK(ranges(run.trace, "after") == 10);
  CHECK(number(run.trace,
               "SELECT count(DISTINCT value) FROM NVTX_EVENTS JOIN StringIds ON id=textId "
               "WHERE value LIKE 'late step %'") == 100);
  CHECK(ranges(run.trace, "late ä wide") == 1);
  CHECK(number(run.trace, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType=75 AND text='late'") ==
        2);  // the child registers what it inherited
  CHECK(loss(run.trace, "nvtx_unknown_handle") == 0);
}

TEST_CASE("five thousand domains work, those beyond the limit count as the default domain") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("hostile"), "domains"});
  CHECK(run.finished.status == 0);
  CHECK(ranges(run.trace, "in a domain") == 5000);
  CHECK(number(run.trace, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType=75") == 4095);
  CHECK(loss(run.trace, "nvtx_unknown_handle") == 5000 - 4095);
}

TEST_CASE("a process whose time-stamp counter is switched off runs unrecorded") {
  TemporaryFolder folder;
  CHECK(record(folder, {target("hostile"), "no-counter"}).finished.status == 0);
}

TEST_CASE("where shared memory is refused the program runs, and the summary says so") {
  TemporaryFolder folder;
  Recorder recorder({"-o", (folder / "run.sqlite").string(), "--", target("forbid"), "memfd",
                     target("processes"), "vfork"});
  recorder.start();
  Finished finished = recorder.wait();
  CHECK(finished.status == 0);
  CHECK(finished.err.find("(memfd_create): Operation not "
                          "permitted") != std::string::npos);
}

TEST_CASE("on a kernel without MADV_POPULATE_WRITE recording works all the same") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("forbid"), "populate", target("threads"), "20", "1"});
  CHECK(run.finished.status == 0);
  CHECK(ranges(run.trace, "on a thread") == 200);
}

TEST_CASE("CUDA's entry point says in the trace why CUDA is off") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("cuda_injection")});
  CHECK(run.finished.status == 0);
  std::string state = meta(run.trace, "cuda");
  CHECK(state.starts_with("off: "));
  CHECK(state != "off: no process initialised CUDA");
}

TEST_CASE("memory that the program damages costs its events, never the recording") {
  for (int seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    TemporaryFolder folder;
    Recorded run = record(folder, {target("scribble"), std::to_string(seed)});
    // The program may die of its own doing; the recorder passes that on and keeps the file whole.
    CHECK((run.finished.status == 0 || run.finished.status > 128));
    CHECK(intact(run.trace));
    CHECK(meta(run.trace, "state") == "complete");
    CHECK(ranges(run.trace, "before") == 100);
  }
}

}  // namespace headway::test
