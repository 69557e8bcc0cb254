// SPDX-License-Identifier: MIT
#include "analyzer/ranks/clocks.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/analyzer/ranks/summaries.h"

namespace headway::analyzer {
namespace {

using test::add_collective;
using test::bare_rank;

struct PlantedClocks {
  double offset = 0;  ///< of rank 1's clock
  double drift = 0;
  int collectives = 200;
  int noise = 2000;       ///< ns, of the ends
  std::string host = {};  ///< of both ranks
};

/// Rank 1 arrives 100 us after rank 0 at collectives 10 ms apart; both leave together.
std::vector<RankSummary> make(const PlantedClocks& planted) {
  std::vector<RankSummary> ranks = {bare_rank(0, planted.host), bare_rank(1, planted.host)};
  unsigned state = 1;
  auto noise = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<std::int64_t>(state >> 8) % (planted.noise + 1);
  };
  for (int i = 0; i < planted.collectives; ++i) {
    std::int64_t t = i * 10'000'000;
    std::int64_t end = t + 600'000;
    auto far = [&](std::int64_t time) {
      return time +
             static_cast<std::int64_t>(planted.offset + planted.drift * static_cast<double>(time));
    };
    add_collective(ranks[0], "dp", "allreduce", t, end + noise(), 1, i);
    add_collective(ranks[1], "dp", "allreduce", far(t + 100'000), far(end + noise()), 1, i);
  }
  return ranks;
}

}  // namespace

TEST_CASE("offset and drift of another machine's clock are found within the residual") {
  std::vector<RankSummary> ranks = make({.offset = 37e6, .drift = 20e-6});
  Clocks clocks = align_clocks(ranks, match_collectives(ranks));
  REQUIRE(clocks.hosts.size() == 2);
  REQUIRE(clocks.all_aligned());
  CHECK(clocks.hosts[1].points == 200);
  CHECK(clocks.worst_residual().ns < 5'000);
  for (std::size_t i = 0; i < 200; i += 40) {
    TimeNs near = ranks[0].collectives.rows[i].time.begin;
    TimeNs far = clocks.to_reference(ranks, 1, ranks[1].collectives.rows[i].time.begin);
    CHECK(std::abs((far - near).ns - 100'000) < 3 * clocks.worst_residual().ns + 1);
  }
}

TEST_CASE("ranks of one host share a clock, without any fit") {
  std::vector<RankSummary> ranks = make({.host = "node1"});
  Clocks clocks = align_clocks(ranks, match_collectives(ranks));
  CHECK(clocks.hosts.size() == 1);
  CHECK(clocks.to_reference(ranks, 1, {5}).ns == 5);
  CHECK(clocks.doubt.empty());
}

TEST_CASE("one host name for two clocks is not believed") {
  std::vector<RankSummary> ranks = make({.offset = 37e6, .host = "container"});
  Clocks clocks = align_clocks(ranks, match_collectives(ranks));
  CHECK(clocks.hosts.size() == 2);
  CHECK(clocks.all_aligned());
  CHECK(!clocks.doubt.empty());
}

TEST_CASE("too few collectives in common: refused with the reason") {
  std::vector<RankSummary> ranks = make({.offset = 37e6, .collectives = 7});
  Clocks clocks = align_clocks(ranks, match_collectives(ranks));
  CHECK(!clocks.all_aligned());
  CHECK(clocks.hosts[1].why_not.find("only 7") != std::string::npos);
  ranks = make({.offset = 37e6, .collectives = 8});
  CHECK(align_clocks(ranks, match_collectives(ranks)).all_aligned());
}

TEST_CASE("ends that scatter by more than the collectives last are refused") {
  std::vector<RankSummary> ranks = make({.offset = 37e6, .noise = 50'000'000});
  Clocks clocks = align_clocks(ranks, match_collectives(ranks));
  CHECK(!clocks.all_aligned());
  CHECK(!clocks.hosts[1].why_not.empty());
}

}  // namespace headway::analyzer
