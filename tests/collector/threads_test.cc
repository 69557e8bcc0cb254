// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/collector/run_recorder.h"

namespace headway::test {

TEST_CASE("three hundred threads at once each have their own ranges") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("threads"), "300", "1"});
  REQUIRE(run.finished.status == 0);
  CHECK(ranges(run.trace, "on a thread") == 3000);
  CHECK(
      number(run.trace,
             "SELECT count(DISTINCT globalTid) FROM NVTX_EVENTS JOIN StringIds ON id=textId WHERE "
             "value='on a thread'") == 300);
  CHECK(loss(run.trace, "threads_without_ring") == 0);
  CHECK(loss(run.trace, "ring_full") == 0);
}

TEST_CASE("threads that come and go reuse the rings, and late destructors still record") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("threads"), "2000", "0"});
  REQUIRE(run.finished.status == 0);
  CHECK(ranges(run.trace, "on a thread") == 20'000);
  CHECK(loss(run.trace, "threads_without_ring") == 0);
  auto marks = [&](const char* name) {
    return number(run.trace,
                  "SELECT count(*) FROM NVTX_EVENTS JOIN StringIds ON id=textId WHERE value=?1",
                  {name});
  };
  CHECK(marks("at thread exit") == 200);
  CHECK(marks("late") == 200);
}

TEST_CASE("threads are named as the system names them") {
  TemporaryFolder folder;
  Recorded run = record(folder, {target("threads"), "3", "1"});
  CHECK(number(run.trace,
               "SELECT count(*) FROM ThreadNames JOIN StringIds ON id=nameId WHERE "
               "globalTid&0xffffff=globalTid>>24 AND value='threads'") == 1);
}

TEST_CASE("more threads than rings are counted, not crashed on") {
  TemporaryFolder folder;
  // A narrow address space leaves 16 rings: one for the main thread, 15 for the others.
  Recorded run = record(
      folder,
      {"sh", "-c", "ulimit -s 256; ulimit -v 100000; exec '" + target("threads") + "' 40 1"});
  REQUIRE(run.finished.status == 0);
  CHECK(ranges(run.trace, "on a thread") == 150);
  CHECK(loss(run.trace, "threads_without_ring") >= 25 * 10);
  CHECK(loss(run.trace, "threads_without_ring") <=
        25 * 11);  // a range is one event; some leave a mark
}

}  // namespace headway::test
