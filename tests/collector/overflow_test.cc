// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/collector/run_recorder.h"
#include "trace/load/load.h"

namespace headway::test {

TEST_CASE("a ring that overflows keeps the nesting and counts every event it drops") {
  for (int depth : {1, 3, 50}) {
    CAPTURE(depth);
    TemporaryFolder folder;
    Recorded run = record(
        folder, {target("overflow"), std::to_string(depth), std::to_string(600'000 / depth)});
    REQUIRE(run.finished.status == 0);
    std::int64_t pushed = std::stoll(run.finished.out);
    std::int64_t kept = number(run.trace, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType=59");
    std::int64_t dropped = loss(run.trace, "ring_full");
    CHECK(dropped > 0);  // else the target is not fast enough to test anything
    CHECK(kept + dropped == pushed);
    CHECK(number(run.trace, "SELECT count(*) FROM NVTX_EVENTS WHERE end IS NULL") == 0);
    CHECK(ranges(run.trace, "calm") == 100);
    CHECK(loss(run.trace, "nvtx_pop_without_push") == 0);
    // A range named "depth n" lies at depth n unless one around it was dropped, never deeper.
    trace::Trace trace = trace::load(run.trace);
    for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
      std::string_view name = trace.strings[trace.ranges.name[i]];
      if (!name.starts_with("depth ")) continue;
      int expected = std::stoi(std::string(name.substr(6)));
      REQUIRE(static_cast<int>(trace.ranges.depth[i]) == expected);
    }
  }
}

}  // namespace headway::test
