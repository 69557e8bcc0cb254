// SPDX-License-Identifier: MIT
// DataLoaders of PyTorch: waits of the training thread and what the workers do for them.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/collector/pytorch/pytorch_run.h"

namespace headway::test {
namespace {

constexpr int kStep = 1;
constexpr int kInputWait = 4;
constexpr int kBatch = 5;
constexpr int kRead = 6;
constexpr int kDecode = 7;
constexpr int kCollate = 9;

constexpr const char* kWaits =
    "FROM HEADWAY_RANGE w JOIN NVTX_EVENTS we ON we.rowid=w.rangeRow WHERE w.kind=4 AND w.batch>=0";

/// Every batch that was waited for was made once and before the wait ended.
void check_makers(const std::filesystem::path& trace, std::int64_t batches) {
  CHECK(number(trace, std::string("SELECT count(*) ") + kWaits) == batches);
  CHECK(number(trace, std::string("SELECT count(*) ") + kWaits +
                          " AND EXISTS (SELECT 1 FROM HEADWAY_RANGE m JOIN NVTX_EVENTS me ON "
                          "me.rowid=m.rangeRow WHERE m.kind=5 AND m.batch=w.batch AND "
                          "me.end<=we.end)") == batches);
  CHECK(number(trace, "SELECT count(DISTINCT batch) FROM HEADWAY_RANGE WHERE kind=5") == batches);
}

/// Processes that made batches, other than the one that waits.
std::int64_t worker_processes(const std::filesystem::path& trace) {
  return number(trace,
                "SELECT count(DISTINCT e.globalTid>>24) FROM HEADWAY_RANGE r JOIN NVTX_EVENTS e ON "
                "e.rowid=r.rangeRow WHERE r.kind=5 AND e.globalTid>>24 NOT IN (SELECT "
                "w.globalTid>>24 FROM HEADWAY_RANGE x JOIN NVTX_EVENTS w ON w.rowid=x.rangeRow "
                "WHERE x.kind=4)");
}

/// 2 epochs of 24 batches and 2 for validation, of which each has its stages.
void check_training(const std::string& method, int workers) {
  CAPTURE(method);
  TemporaryFolder folder;
  Recorded run =
      record(folder, pytorch_program({"train", method, std::to_string(workers)}), {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  // Results do not depend on who loads, so the quickest way tells what is right.
  CHECK(run.finished.out == run_alone(pytorch_program({"train", "none", "0"})).out);
  check_makers(run.trace, 52);
  // On a busy machine either may have waited for most of its time.
  CHECK(ranges_of_kind(run.trace, kCollate, "s.value='collate'") +
            ranges_of_kind(run.trace, kRead, "s.value='collate'") ==
        52);
  CHECK(ranges_of_kind(run.trace, kRead, "s.value='samples'") +
            ranges_of_kind(run.trace, kDecode, "s.value='samples'") ==
        52);
  CHECK(ranges_of_kind(run.trace, kBatch, "s.value='batch'") == 52);
  // Each pass starts its workers anew; of those for validation, two have something to do.
  CHECK(worker_processes(run.trace) == 2 * workers + 2 * std::min(workers, 2));
  CHECK(ranges_of_kind(run.trace, kStep) == 24);
}

}  // namespace

TEST_CASE("each batch that a PyTorch loop waits for is tied to the forked worker that made it") {
  HEADWAY_NEEDS_TORCH();
  check_training("fork", 4);
}

TEST_CASE("workers that are spawned are recorded like forked ones") {
  HEADWAY_NEEDS_TORCH();
  check_training("spawn", 2);
}

TEST_CASE("workers of a fork server are recorded like forked ones") {
  HEADWAY_NEEDS_TORCH();
  check_training("forkserver", 2);
}

TEST_CASE("without workers the training thread makes the batch while it waits") {
  HEADWAY_NEEDS_TORCH();
  check_training("none", 0);
}

TEST_CASE("iterable datasets, plain lists, workers that live on and loops that are left early") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  std::vector<std::string> command = pytorch_program({"iterable"});
  Recorded run = record(folder, command, {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  CHECK(run.finished.out == run_alone(command).out);
  std::int64_t updates = ranges(run.trace, "Optimizer.step#Adam.step");
  CHECK(updates > 50);
  CHECK(ranges_of_kind(run.trace, kStep) == updates);
  // A wait ends after its batch was made; only the last wait of each of eight passes over an iterable dataset is for none.
  CHECK(
      number(run.trace,
             "SELECT count(*) FROM HEADWAY_RANGE w JOIN NVTX_EVENTS we ON we.rowid=w.rangeRow JOIN "
             "HEADWAY_RANGE m ON m.kind=5 AND m.batch=w.batch JOIN NVTX_EVENTS me ON "
             "me.rowid=m.rangeRow WHERE w.kind=4 AND me.end>we.end") == 0);
  CHECK(number(run.trace,
               "SELECT count(*) FROM HEADWAY_RANGE w WHERE w.kind=4 AND w.batch>=0 AND NOT EXISTS "
               "(SELECT 1 FROM HEADWAY_RANGE m WHERE m.kind=5 AND m.batch=w.batch)") <= 8);
  CHECK(ranges_of_kind(run.trace, kInputWait) > updates);
}

TEST_CASE("a loader with passes of its own over one iterator is seen as others are") {
  HEADWAY_NEEDS_TORCH();
  for (const std::int64_t workers : {0, 2}) {
    CAPTURE(workers);
    TemporaryFolder folder;
    std::vector<std::string> command = pytorch_program({"endless", std::to_string(workers)});
    Recorded run = record(folder, command, {"--pytorch"});
    REQUIRE(run.finished.status == 0);
    CHECK(run.finished.out == run_alone(command).out);
    // 3 passes of 8 batches, and one of 2 by another loader.
    CHECK(ranges_of_kind(run.trace, kStep) == 26);
    CHECK(number(run.trace, std::string("SELECT count(*) ") + kWaits) == 26);
    CHECK(number(run.trace, std::string("SELECT count(*) ") + kWaits +
                                " AND EXISTS (SELECT 1 FROM HEADWAY_RANGE m JOIN NVTX_EVENTS me ON "
                                "me.rowid=m.rangeRow WHERE m.kind=5 AND m.batch=w.batch AND "
                                "me.end<=we.end)") == 26);
    CHECK(ranges(run.trace, "DataLoader shutdown") == 1);
  }
}

TEST_CASE(
    "an image counts as decoded when all of it has its size, a part that is chosen of it does "
    "not") {
  HEADWAY_NEEDS_TORCH();
  if (run_alone({python_with_torch(), "-c", "import PIL.ImageFile"}).status != 0) {
    MESSAGE("[skipped] no PIL beside torch: apt-get install python3-pil");
    return;
  }
  for (const bool drawn : {false, true}) {
    CAPTURE(drawn);
    TemporaryFolder folder;
    Recorded run =
        record(folder, pytorch_program({"pictures", drawn ? "drawn" : "fixed"}), {"--pytorch"});
    REQUIRE(run.finished.status == 0);
    // Of each of 40 samples: load() and the first of three resize(), of which random sizes soon show that they are.
    CHECK(ranges_of_kind(run.trace, kDecode, "s.value='decode'") == (drawn ? 44 : 80));
  }
}

TEST_CASE("an error in the program's own functions looks the same with and without the hooks") {
  HEADWAY_NEEDS_TORCH();
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"error", "collate", "2"},
        {"error", "collate", "0"},
        {"error", "init", "2"}}) {
    CAPTURE(arguments[1]);
    TemporaryFolder folder;
    std::vector<std::string> command = pytorch_program(arguments);
    Recorded run = record(folder, command, {"--pytorch"});
    Finished alone = run_alone(command);
    CHECK(run.finished.status == 1);
    CHECK(run.finished.out == alone.out);
    CHECK(run.finished.err == alone.err);
    CHECK(alone.err.find("Error") != std::string::npos);
  }
}

TEST_CASE("which random numbers samples are made with is told, and none are used up by asking") {
  HEADWAY_NEEDS_TORCH();
  auto told = [&](const std::string& generator, const std::string& workers) {
    TemporaryFolder folder;
    const std::vector<std::string> command = pytorch_program({"draws", generator, workers});
    Recorded run = record(folder, command, {"--pytorch"});
    REQUIRE(run.finished.status == 0);
    CHECK(run.finished.out == run_alone(command).out);
    CHECK(intact(run.trace));
    return query(run.trace,
                 "SELECT group_concat(DISTINCT name||'='||value) FROM HEADWAY_SETTING WHERE name "
                 "LIKE "
                 "'DataLoader.samples_draw%'")
        .at(0)
        .at(0);
  };
  CHECK(told("torch", "0") == "DataLoader.samples_draw_from=torch");
  CHECK(told("random", "2") == "DataLoader.samples_draw_from=random");
  CHECK(told("own", "0") == "DataLoader.samples_draw_nothing=in 4 batches");
}

TEST_CASE("how much of the batches an attention mask leaves out is told once") {
  HEADWAY_NEEDS_TORCH();
  TemporaryFolder folder;
  Recorded run = record(folder, pytorch_program({"masks"}), {"--pytorch"});
  REQUIRE(run.finished.status == 0);
  // Of 8 x 8 elements, 1 + 2 + … + 8 are content.
  CHECK(query(run.trace, "SELECT value FROM HEADWAY_SETTING WHERE name = 'padding'") ==
        Rows{{"0.4375"}});
}

}  // namespace headway::test
