// SPDX-License-Identifier: MIT
#include "collector/record/launched_rank.h"

#include <doctest/doctest.h>

#include <map>

#include "common/error.h"
#include "tests/collector/run_recorder.h"

namespace headway::record {
namespace {

std::optional<int> rank_of(const std::map<std::string, std::string>& variables) {
  return launched_rank([&](const std::string& name) {
    auto found = variables.find(name);
    return found == variables.end() ? "" : found->second;
  });
}

}  // namespace

TEST_CASE("rank: the variable of each launcher, Slurm's last, nonsense never") {
  CHECK(rank_of({{"RANK", "3"}, {"SLURM_PROCID", "0"}}) == 3);
  CHECK(rank_of({{"OMPI_COMM_WORLD_RANK", "5"}}) == 5);
  CHECK(rank_of({{"PMI_RANK", "6"}}) == 6);
  CHECK(rank_of({{"SLURM_PROCID", "7"}}) == 7);
  CHECK(rank_of({}) == std::nullopt);
  CHECK(rank_of({{"RANK", "two"}}) == std::nullopt);
  CHECK(rank_of({{"RANK", "-1"}, {"PMI_RANK", "2"}}) == 2);
  CHECK(rank_of({{"RANK", "99999999999999"}}) == std::nullopt);
}

TEST_CASE("rank: a trace's name takes the rank, and says so when there is none") {
  test::TemporaryFolder folder;
  auto record_as = [&](const std::string& name, const std::string& rank) {
    test::Recorder recorder({"--quiet", "-o", (folder / name).string(), "--", "true"});
    if (!rank.empty()) recorder.with("RANK=" + rank);
    recorder.start();
    return recorder.wait();
  };
  CHECK(record_as("rank%r of%%.sqlite", "12").status == 0);
  REQUIRE(std::filesystem::exists(folder / "rank12 of%.sqlite"));
  CHECK(test::number(folder / "rank12 of%.sqlite", "SELECT max(rank) FROM HEADWAY_PROCESS") == 12);
  CHECK(record_as("p%p.sqlite", "").status == 0);
  test::Finished unknown = record_as("%q.sqlite", "");
  CHECK(unknown.status == 2);
  CHECK(unknown.err.find("after % come") != std::string::npos);
  test::Finished missing = record_as("%r.sqlite", "none");
  CHECK(missing.status == 2);
  CHECK(missing.err.find("no launcher has set one") != std::string::npos);
}

}  // namespace headway::record
