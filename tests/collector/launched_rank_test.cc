// SPDX-License-Identifier: MIT
#include "collector/record/environment/launched_rank.h"

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

TEST_CASE("launch: world, place on the node, node and job as each launcher tells them") {
  auto launched_by = [](const std::map<std::string, std::string>& variables) {
    return launched([&](const std::string& name) {
      auto found = variables.find(name);
      return found == variables.end() ? "" : found->second;
    });
  };
  CHECK(launched_by({{"RANK", "9"},
                     {"WORLD_SIZE", "16"},
                     {"LOCAL_RANK", "1"},
                     {"LOCAL_WORLD_SIZE", "8"},
                     {"GROUP_RANK", "1"},
                     {"GROUP_WORLD_SIZE", "2"},
                     {"TORCHELASTIC_RUN_ID", "resnet"}}) ==
        Launched{"torchrun", 9, 16, 1, 8, 1, 2, "resnet"});
  // torchrun inside a job of Slurm: the ranks are torchrun's, the job Slurm's.
  CHECK(launched_by({{"RANK", "9"},
                     {"WORLD_SIZE", "16"},
                     {"TORCHELASTIC_RUN_ID", "none"},
                     {"SLURM_PROCID", "1"},
                     {"SLURM_NTASKS", "2"},
                     {"SLURM_NODEID", "1"},
                     {"SLURM_NNODES", "2"},
                     {"SLURM_JOB_ID", "4711"}}) ==
        Launched{"torchrun", 9, 16, {}, {}, 1, 2, "4711"});
  CHECK(launched_by({{"OMPI_COMM_WORLD_RANK", "3"},
                     {"OMPI_COMM_WORLD_SIZE", "4"},
                     {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                     {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                     {"PMIX_RANK", "3"}}) == Launched{"Open MPI", 3, 4, 1, 2, {}, {}, ""});
  CHECK(launched_by({{"PMI_RANK", "2"},
                     {"PMI_SIZE", "4"},
                     {"MPI_LOCALRANKID", "0"},
                     {"MPI_LOCALNRANKS", "2"}}) == Launched{"MPICH", 2, 4, 0, 2, {}, {}, ""});
  CHECK(launched_by({{"SLURM_PROCID", "7"},
                     {"SLURM_NTASKS", "8"},
                     {"SLURM_LOCALID", "3"},
                     {"SLURM_NODEID", "1"},
                     {"SLURM_NNODES", "2"},
                     {"SLURM_JOB_ID", "12"}}) == Launched{"Slurm", 7, 8, 3, {}, 1, 2, "12"});
  CHECK(launched_by({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).launcher == "environment");
  CHECK(launched_by({}) == Launched{});
}

TEST_CASE("launch: the trace tells it, of the recorder and of ranks that it starts") {
  test::TemporaryFolder folder;
  test::Recorder rank({"--quiet", "-o", (folder / "rank.sqlite").string(), "--", "true"});
  rank.with("OMPI_COMM_WORLD_RANK=3").with("OMPI_COMM_WORLD_SIZE=4");
  rank.with("OMPI_COMM_WORLD_LOCAL_RANK=1").with("OMPI_COMM_WORLD_LOCAL_SIZE=2");
  rank.start();
  REQUIRE(rank.wait().status == 0);
  auto told = [&](const char* key) { return test::meta(folder / "rank.sqlite", key); };
  CHECK(told("launcher") == "Open MPI");
  CHECK(told("world_size") == "4");
  CHECK(told("rank") == "3");
  CHECK(told("local_rank") == "1");
  CHECK(told("local_world_size") == "2");
  // One recorder around a launcher: its children are the ranks.
  test::Recorded node = test::record(
      folder, {"sh", "-c",
               "RANK=0 WORLD_SIZE=2 TORCHELASTIC_RUN_ID=job sleep 0.4 & RANK=1 WORLD_SIZE=2 "
               "TORCHELASTIC_RUN_ID=job sleep 0.4; wait"});
  REQUIRE(node.finished.status == 0);
  CHECK(test::meta(node.trace, "launcher") == "torchrun");
  CHECK(test::meta(node.trace, "world_size") == "2");
  CHECK(test::meta(node.trace, "job") == "job");
  CHECK(test::meta(node.trace, "rank").empty());
  CHECK(test::query(node.trace,
                    "SELECT rank FROM HEADWAY_PROCESS WHERE rank IS NOT NULL ORDER BY 1") ==
        test::Rows{{"0"}, {"1"}});
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
  CHECK(unknown.err.find("after %") != std::string::npos);
  test::Finished missing = record_as("%r.sqlite", "none");
  CHECK(missing.status == 2);
  CHECK(missing.err.find("no launcher has set one") != std::string::npos);
}

}  // namespace headway::record
