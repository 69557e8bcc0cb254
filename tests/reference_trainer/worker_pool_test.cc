// SPDX-License-Identifier: MIT
// Workers on a virtual clock: who gets a processor, and who waits for the storage.
#include "reference_trainer/devices/sim/worker_pool.h"

#include <doctest/doctest.h>

namespace headway::trainer::sim {
namespace {

using Legs = std::vector<Leg>;

const Legs kComputing = {{Leg::Kind::kCompute, 1000}};

}  // namespace

TEST_CASE("workers share the processors while more of them compute than there are") {
  WorkerPool pool(3, 2, 0);
  for (std::int64_t batch = 0; batch < 3; ++batch) pool.order(batch, 0, kComputing);
  CHECK(pool.run_until_made(2) == 1500);
  // Two have one each; the training thread takes one of two besides.
  for (std::int64_t batch = 3; batch < 5; ++batch) pool.order(batch, 0, kComputing);
  CHECK(pool.run_until_made(4) == 2500);
  for (std::int64_t batch = 5; batch < 7; ++batch) pool.order(batch, 0, kComputing);
  pool.run_beside_training(3500);
  CHECK(pool.run_until_made(6) == 4000);
}

TEST_CASE("a training thread that slept is ahead of its share for a moment") {
  constexpr std::int64_t kMs = 1'000'000;
  const Legs long_ones = {{Leg::Kind::kCompute, 20 * kMs}};
  WorkerPool pool(3, 2, 0);
  for (std::int64_t batch = 0; batch < 3; ++batch) pool.order(batch, 0, long_ones);
  // Its share is half a processor: it runs alone for 1 ms, which is 0.5 ms more than that.
  CHECK(pool.train(0, 10 * kMs) == 19 * kMs);
  // Each worker has computed for 1 / 3 + 18 / 2 ms, and has two thirds of a processor while the training thread sleeps.
  CHECK(pool.run_until_made(2) == 35 * kMs);
  CHECK(pool.train(35 * kMs, 10 * kMs) == 45 * kMs);  // nobody else computes
  for (std::int64_t batch = 3; batch < 6; ++batch) pool.order(batch, 0, long_ones);
  CHECK(pool.train(45 * kMs, kMs) == 46 * kMs);
  CHECK(pool.train(46 * kMs, kMs) == 48 * kMs);
}

TEST_CASE("the clock advances however late it is") {
  // At 10^17 ns, the next number after an even one is 16 more.
  constexpr std::int64_t kLate = 100'000'000'000'000'000;
  WorkerPool pool(3, 2, 0);
  for (std::int64_t batch = 0; batch < 3; ++batch) pool.order(batch, kLate, kComputing);
  CHECK(pool.train(kLate, 3) >= kLate);
  CHECK(pool.train(kLate, 1000) > kLate);
  CHECK(pool.run_until_made(2) > kLate);
}

TEST_CASE("on one processor the training thread never takes more than its share") {
  WorkerPool pool(1, 1, 0);
  pool.order(0, 0, kComputing);
  CHECK(pool.train(0, 500) == 1000);
  CHECK(pool.run_until_made(0) == 1500);
}

TEST_CASE("workers that wait for a batch to be taken take no processor") {
  WorkerPool pool(8, 1, 0);
  pool.order(0, 0, kComputing);
  pool.order(1, 5000, kComputing);
  CHECK(pool.run_until_made(0) == 1000);
  CHECK(pool.run_until_made(1) == 6000);
  const std::vector<MadeBatch> made = pool.take_made();
  REQUIRE(made.size() == 2);
  CHECK(made[1].begin == 5000);
  CHECK(made[1].before == -1);  // seven others were free for longer
}

TEST_CASE("a worker that starts anew is late, and makes its next batch after the one before") {
  WorkerPool pool(1, 4, 0);
  pool.start(200, 300);
  pool.order(0, 0, kComputing);
  pool.order(1, 0, kComputing);
  CHECK(pool.run_until_made(1) == 2500);
  const std::vector<MadeBatch> made = pool.take_made();
  REQUIRE(made.size() == 2);
  CHECK(made[0].begin == 500);
  CHECK(made[1].begin == 1500);
  CHECK(made[1].before == 0);
}

TEST_CASE("transfers take turns, requests do not, and a storage serves so many readers") {
  const Legs reading = {
      {Leg::Kind::kBeginToRead, 400}, {Leg::Kind::kWait, 100}, {Leg::Kind::kEndReading, 400}};
  for (const int places : {0, 1}) {
    CAPTURE(places);
    WorkerPool pool(2, 4, places);
    pool.order(0, 0, reading);
    pool.order(1, 0, reading);
    CHECK(pool.run_until_made(0) == 500);
    CHECK(pool.run_until_made(1) == (places == 1 ? 1000 : 800));
  }
}

}  // namespace headway::trainer::sim
