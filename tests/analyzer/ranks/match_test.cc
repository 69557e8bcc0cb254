// SPDX-License-Identifier: MIT
#include "analyzer/ranks/match.h"

#include <doctest/doctest.h>

#include "tests/analyzer/ranks/summaries.h"

namespace headway::analyzer {

using test::add_collective;
using test::bare_rank;

TEST_CASE("collectives with sequence numbers match whatever their order") {
  std::vector<RankSummary> ranks = {bare_rank(0), bare_rank(1)};
  add_collective(ranks[0], "dp", "allreduce", 0, 100, 1, 7);
  add_collective(ranks[0], "dp", "allgather", 200, 260, 1, 8);
  add_collective(ranks[1], "dp", "allgather", 230, 260, 1, 8);
  add_collective(ranks[1], "dp", "allreduce", 60, 100, 1, 7);
  Matching matching = match_collectives(ranks);
  REQUIRE(matching.all.size() == 2);
  CHECK(matching.all[0].transfer.ns == 40);
  CHECK(matching.all[0].last == 1);
  CHECK(matching.all[0].longest_wait.ns == 60);
  CHECK(matching.all[1].transfer.ns == 30);
  CHECK(!matching.groups[0].by_order);
  CHECK(wait_of(matching.all[0], ranks[0].collectives.rows[0]).ns == 60);
  CHECK(wait_of(matching.all[0], ranks[1].collectives.rows[1]).ns == 0);
}

TEST_CASE("without sequence numbers the place in the step decides, and it is said") {
  std::vector<RankSummary> ranks = {bare_rank(0), bare_rank(1)};
  for (int step = 1; step <= 2; ++step) {
    add_collective(ranks[0], "dp", "allreduce", step * 1000, step * 1000 + 100, step);
    add_collective(ranks[1], "dp", "allreduce", step * 1000 + 50, step * 1000 + 100, step);
  }
  Matching matching = match_collectives(ranks);
  CHECK(matching.all.size() == 2);
  CHECK(matching.groups[0].by_order);
  CHECK(matching.groups[0].unmatched == 0);
}

TEST_CASE("a step in which a rank counts differently leaves only that rank's out of it") {
  std::vector<RankSummary> ranks = {bare_rank(0), bare_rank(1), bare_rank(2)};
  for (RankSummary& rank : ranks) {
    for (int step = 1; step <= 3; ++step)
      add_collective(rank, "dp", "allreduce", step * 1000, step * 1000 + 100, step);
  }
  add_collective(ranks[2], "dp", "allreduce", 2200, 2300, 2);
  Matching matching = match_collectives(ranks);
  CHECK(matching.all.size() == 3);
  CHECK(matching.groups[0].matched == 8);
  CHECK(matching.groups[0].unmatched == 2);
  for (const MatchedCollective& c : matching.all) {
    std::int64_t step = ranks[0].collectives.rows[matching.of(c)[0].row].step;
    CHECK(c.member_count == (step == 2 ? 2u : 3u));
  }
}

TEST_CASE("what differs in kind or size is not the same collective") {
  std::vector<RankSummary> ranks = {bare_rank(0), bare_rank(1)};
  add_collective(ranks[0], "dp", "allreduce", 0, 100, 1, 1, 1000);
  add_collective(ranks[1], "dp", "allreduce", 0, 100, 1, 1, 2000);
  add_collective(ranks[0], "dp", "allreduce", 200, 300, 1, 2);
  add_collective(ranks[1], "dp", "allgather", 200, 300, 1, 2);
  Matching matching = match_collectives(ranks);
  CHECK(matching.all.empty());
  CHECK(matching.groups[0].unmatched + matching.groups[1].unmatched == 4);
}

TEST_CASE("a communicator with more users than members is several groups: none is matched") {
  std::vector<RankSummary> ranks;
  for (int r = 0; r < 4; ++r) {
    ranks.push_back(bare_rank(r));
    add_collective(ranks.back(), "tp", "allreduce", 0, 100, 1, 1);
    ranks.back().collectives.rows[0].ranks = 2;
  }
  Matching matching = match_collectives(ranks);
  CHECK(matching.all.empty());
  REQUIRE(matching.ambiguous.size() == 1);
  CHECK(matching.ambiguous[0] == "tp");
}

TEST_CASE(
    "of a broadcast any member may wait for another: the root until there is room, the others for "
    "its data") {
  std::vector<RankSummary> ranks = {bare_rank(0), bare_rank(1)};
  add_collective(ranks[0], "dp", "broadcast", 0, 10, 1, 1);  // the root comes late
  add_collective(ranks[1], "dp", "broadcast", 0, 100, 1, 1);
  add_collective(ranks[0], "dp", "broadcast", 200, 320, 1, 2);  // the root waits for the other
  add_collective(ranks[1], "dp", "broadcast", 300, 320, 1, 2);
  Matching matching = match_collectives(ranks);
  REQUIRE(matching.all.size() == 2);
  CHECK(matching.all[0].one_sided);
  CHECK(matching.all[0].last == 0);
  CHECK(wait_of(matching.all[0], ranks[1].collectives.rows[0]).ns == 90);
  CHECK(matching.all[1].last == 1);
  CHECK(wait_of(matching.all[1], ranks[0].collectives.rows[1]).ns == 100);
}

TEST_CASE("outside the steps nothing but a sequence number matches") {
  std::vector<RankSummary> ranks = {bare_rank(0), bare_rank(1)};
  for (RankSummary& rank : ranks) add_collective(rank, "dp", "allreduce", 0, 100, -1);
  Matching matching = match_collectives(ranks);
  CHECK(matching.all.empty());
  CHECK(matching.groups[0].unmatched == 2);
}

TEST_CASE("a send finds its receive where each end names the other, and either end may wait") {
  std::vector<RankSummary> ranks = {bare_rank(0), bare_rank(1)};
  auto message = [&](std::size_t rank, const char* kind, std::int32_t peer, std::int64_t begin,
                     std::int64_t end) {
    add_collective(ranks[rank], "pp", kind, begin, end);
    ranks[rank].collectives.rows.back().peer = peer;
  };
  message(0, "send", 1, 0, 500);  // its receiver comes late
  message(1, "recv", 0, 400, 500);
  message(0, "recv", 1, 600, 1600);  // its sender comes late
  message(1, "send", 0, 1500, 1600);
  const Matching matching = match_collectives(ranks);
  REQUIRE(matching.all.size() == 2);
  std::int64_t waited[2] = {};
  for (const MatchedCollective& one : matching.all) {
    CHECK(one.one_sided);
    CHECK(one.tells_waits);
    CHECK(one.member_count == 2);
    CHECK(one.last == 1);
    CHECK(one.transfer.ns == 100);
    for (Member m : matching.of(one))
      waited[m.rank] += wait_of(one, ranks[m.rank].collectives.rows[m.row]).ns;
  }
  CHECK(waited[0] == 400 + 900);
  CHECK(waited[1] == 0);
}

TEST_CASE("a message whose other end is not here, or names nobody, is not matched") {
  std::vector<RankSummary> ranks = {bare_rank(0), bare_rank(1)};
  add_collective(ranks[0], "pp", "send", 0, 500);
  ranks[0].collectives.rows.back().peer = 2;
  add_collective(ranks[1], "pp", "recv", 0, 500);
  const Matching matching = match_collectives(ranks);
  CHECK(matching.all.empty());
}

TEST_CASE("bus bandwidth counts as the library's tests do") {
  CHECK(bus_factor("allreduce", 4) == doctest::Approx(1.5));
  CHECK(bus_factor("allgather", 4) == doctest::Approx(0.75));
  CHECK(bus_factor("reducescatter", 8) == doctest::Approx(0.875));
  CHECK(bus_factor("broadcast", 8) == 1);
  CHECK(bus_factor("alltoall", 4) == doctest::Approx(0.75));
  CHECK(bus_factor("send", 2) == 1);
  CHECK(bus_factor("allreduce", 1) == 0);
  CHECK(bus_factor("collective", 4) == 0);
}

}  // namespace headway::analyzer
