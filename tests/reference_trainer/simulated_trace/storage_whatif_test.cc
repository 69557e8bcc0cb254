// SPDX-License-Identifier: MIT
// More workers and shards on storage of any kind: predicted from one simulated run, done in another.
#include <doctest/doctest.h>

#include "tests/reference_trainer/simulated_trace/predicted.h"

namespace headway::trainer {
namespace {

using test::mean_step_ns;
using test::Predicted;
using test::Switches;

/// A run whose batches take longer to read than a step takes.
Switches run_on(Switches storage) {
  Switches run = {{"device", "sim"},  {"model", "resnet"}, {"depth", "8"},
                  {"width", "8"},     {"batch", "64"},     {"source", "files"},
                  {"prefetch", "16"}, {"eval", "off"},     {"samples", "4096"}};
  run.insert(run.end(), storage.begin(), storage.end());
  return run;
}

}  // namespace

TEST_CASE("storage at its bandwidth: neither more workers nor shards are predicted to gain") {
  const Predicted before(run_on({{"workers", "4"}, {"storage_mb_per_s", "1"}}));
  const double now = mean_step_ns(before.run);
  CHECK_FALSE(before.applies("more-workers"));
  CHECK(before.step_ns("pack-files") == doctest::Approx(now).epsilon(0.03));
  CHECK(mean_step_ns(before.run, {{"workers", "16"}}) == doctest::Approx(now).epsilon(0.03));
  CHECK(mean_step_ns(before.run, {{"source", "shards"}}) == doctest::Approx(now).epsilon(0.03));
}

TEST_CASE("storage that answers late: shards gain what they are predicted to") {
  const Predicted before(run_on({{"workers", "2"}, {"storage_latency_ms", "1"}}));
  const double done = mean_step_ns(before.run, {{"source", "shards"}});
  CHECK(done < 0.5 * mean_step_ns(before.run));
  CHECK(before.step_ns("pack-files") == doctest::Approx(done).epsilon(0.05));
}

TEST_CASE("one worker: calls on files tell bandwidth from latency") {
  const Predicted slow(run_on({{"workers", "1"}, {"storage_mb_per_s", "1"}}));
  // Four workers gain 4 %: what the one does beside reading.
  const double done = mean_step_ns(slow.run, {{"workers", "4"}});
  CHECK(slow.step_ns("more-workers") > 0.9 * done);
  const Predicted late(run_on({{"workers", "1"}, {"storage_latency_ms", "1"}}));
  CHECK(late.applies("more-workers"));
  CHECK(late.step_ns("more-workers") < 0.5 * mean_step_ns(late.run));
}

TEST_CASE("a storage that serves one reader at a time is seen though all reads take the same") {
  // Reads of each rank's workers come evenly; that opens wait for the read before shows it.
  const Predicted before({{"device", "sim"},
                          {"eval", "off"},
                          {"gpu", "h100-sxm"},
                          {"world", "961869088"},
                          {"host_cores", "2"},
                          {"depth", "8"},
                          {"width", "8"},
                          {"batch", "64"},
                          {"workers", "4"},
                          {"prefetch", "8"},
                          {"storage_mb_per_s", "0.2"},
                          {"ranks", "8"},
                          {"ranks_per_node", "2"},
                          {"samples", "2000"}});
  const double now = mean_step_ns(before.run);
  CHECK_FALSE(before.applies("more-workers"));
  CHECK(before.step_ns("augment-on-device") == doctest::Approx(now).epsilon(0.03));
}

TEST_CASE("workers share the rate that one thread's large reads had") {
  const Switches run = with(kImages, {{"workers", "0"},
                                      {"batch", "64"},
                                      {"samples", "4096"},
                                      {"storage_latency_ms", "0.02"},
                                      {"storage_mb_per_s", "12"}});
  const Predicted before(run);
  REQUIRE(before.applies("use-workers"));
  const double done = mean_step_ns(run, {{"workers", "4"}, {"prefetch", "8"}});
  CHECK(before.step_ns("use-workers") == doctest::Approx(done).epsilon(0.1));
}

TEST_CASE("pictures that are stored decoded are resized from fewer pixels to as many") {
  const Switches run = {{"device", "sim"},  {"model", "ssd"},      {"depth", "14"},
                        {"batch", "64"},    {"image_size", "128"}, {"data", "generated-pictures"},
                        {"prefetch", "16"}, {"samples", "500"},    {"eval", "off"}};
  const Predicted before(run);
  REQUIRE(before.applies("decode-offline"));
  // Two passes of a filter take a result's pixel twice as long as one of the source; the trainer's
  // take it four times as long.
  const double done = mean_step_ns(run, {{"decode", "offline"}});
  CHECK(before.step_ns("decode-offline") == doctest::Approx(done).epsilon(0.15));
}

TEST_CASE("at such a storage twice the batch needs no more requests") {
  const Switches run = {{"device", "sim"},     {"eval", "off"},
                        {"gpu", "t4"},         {"world", "36553625"},
                        {"host_cores", "4"},   {"model", "ssd"},
                        {"depth", "14"},       {"width", "32"},
                        {"image_size", "128"}, {"augment", "off"},
                        {"batch", "1"},        {"workers", "16"},
                        {"prefetch", "8"},     {"storage_mb_per_s", "8.58"},
                        {"ranks", "4"},        {"samples", "500"}};
  const double now = mean_step_ns(run);
  const double done = mean_step_ns(run, {{"batch", "2"}}) / 2;
  CHECK(done < 0.8 * now);
  CHECK(Predicted(run).step_ns("larger-batch") == doctest::Approx(done).epsilon(0.15));
}

}  // namespace headway::trainer
