// SPDX-License-Identifier: MIT
// Fixes of what ranks exchange, predicted from one simulated job and done in another.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/reference_trainer/simulated_trace/predicted.h"

namespace headway::trainer {

using test::check_done;
using test::kImages;
using test::kText;
using test::mean_step_ns;
using test::Predicted;
using test::Switches;
using test::with;

TEST_CASE("gradients of several micro batches travel during the last one's backward pass") {
  check_done(with(kText, {{"ranks", "4"},
                          {"ranks_per_node", "1"},
                          {"network_gb_per_s", "20"},
                          {"accumulate", "2"},
                          {"bucket_mb", "2"},
                          {"overlap", "off"}}),
             "overlap-communication", {{"overlap", "on"}}, 0.08);
}

TEST_CASE("small sums inside nodes first pass more hops between nodes than in one ring") {
  const Switches run = with(kText, {{"ranks", "16"},
                                    {"ranks_per_node", "2"},
                                    {"first_bucket_mb", "0"},
                                    {"bucket_mb", "0"},
                                    {"network_us", "20"},
                                    {"network_gb_per_s", "20"}});
  const Predicted before(run);
  REQUIRE(before.applies("hierarchical-allreduce"));
  const double done = mean_step_ns(run, {{"topology", "hierarchical"}});
  CHECK(done > 1.1 * mean_step_ns(run));
  CHECK(before.step_ns("hierarchical-allreduce") == doctest::Approx(done).epsilon(0.1));
}

TEST_CASE("parameters that are gathered one block ahead arrive while the block before computes") {
  const Switches sharded = {{"device", "sim"},
                            {"model", "transformer"},
                            {"features", "1024"},
                            {"heads", "16"},
                            {"layers", "6"},
                            {"sequence", "512"},
                            {"batch", "8"},
                            {"precision", "bf16"},
                            {"eval", "off"},
                            {"ranks", "4"},
                            {"shard_parameters", "on"},
                            {"gather_prefetch", "off"}};
  check_done(sharded, "prefetch-all-gathers", {{"gather_prefetch", "on"}}, 0.02);
  // A link that takes longer than the compute beside it limits both.
  check_done(with(sharded, {{"node_gb_per_s", "40"}}), "prefetch-all-gathers",
             {{"gather_prefetch", "on"}}, 0.05);
  CHECK_FALSE(
      Predicted(with(sharded, {{"gather_prefetch", "on"}})).applies("prefetch-all-gathers"));
}

TEST_CASE("a pipeline of more micro batches is idle for less") {
  const Switches stages = {{"device", "sim"}, {"model", "transformer"}, {"features", "1024"},
                           {"heads", "16"},   {"layers", "8"},          {"sequence", "512"},
                           {"batch", "64"},   {"precision", "bf16"},    {"eval", "off"},
                           {"ranks", "4"},    {"pipeline", "1f1b"},     {"micro_batches", "4"}};
  check_done(stages, "more-micro-batches", {{"micro_batches", "8"}}, 0.05);
  check_done(with(stages, {{"pipeline", "gpipe"}}), "more-micro-batches", {{"micro_batches", "8"}},
             0.05);
}

TEST_CASE(
    "a stage whose host allocates for longer than its kernels run sends the first half early") {
  const Switches run = with(
      kText, {{"ranks", "4"}, {"pipeline", "1f1b"}, {"micro_batches", "1"}, {"allocator", "raw"}});
  const double predicted = Predicted(run).step_ns("more-micro-batches");
  CHECK(predicted == doctest::Approx(mean_step_ns(run, {{"micro_batches", "2"}})).epsilon(0.15));
}

TEST_CASE("a slow rank that need not wait makes fewer calls than its peers") {
  // With gradients of four batches a step, the others wait for the device before each batch.
  check_done(with(kText, {{"ranks", "4"},
                          {"ranks_per_node", "4"},
                          {"accumulate", "4"},
                          {"slow_rank", "2"},
                          {"slow_rank_ms", "12"}}),
             "even-ranks", {{"slow_rank_ms", "0"}}, 0.06);
}

TEST_CASE("buckets of another size than any that was recorded have the rate of large messages") {
  check_done({{"device", "sim"},
              {"model", "gnmt"},
              {"data", "generated"},
              {"features", "256"},
              {"sequence", "16"},
              {"batch", "64"},
              {"ranks", "4"},
              {"ranks_per_node", "1"},
              {"network_gb_per_s", "3"},
              {"first_bucket_mb", "0"},
              {"bucket_mb", "0"},
              {"eval", "off"}},
             "larger-buckets", {{"first_bucket_mb", "1"}, {"bucket_mb", "25"}}, 0.06);
}

TEST_CASE("sums in stages of one rank per node become one ring") {
  check_done(with(kImages, {{"ranks", "4"},
                            {"ranks_per_node", "1"},
                            {"samples", "40000"},
                            {"workers", "8"},
                            {"first_bucket_mb", "0"},
                            {"bucket_mb", "0"},
                            {"topology", "hierarchical"}}),
             "flat-allreduce", {{"topology", "flat"}});
}

TEST_CASE("each backward pass that exchanges gradients has buckets of its own") {
  check_done(with(kImages, {{"ranks", "4"},
                            {"accumulate", "8"},
                            {"sum_each_batch", "on"},
                            {"samples", "40000"},
                            {"workers", "8"},
                            {"first_bucket_mb", "0"},
                            {"bucket_mb", "0"}}),
             "larger-buckets", {{"first_bucket_mb", "1"}, {"bucket_mb", "25"}});
}

TEST_CASE("buckets are filled anew where another size ends inside of a message") {
  // The second of two messages has 3 MiB: a larger first bucket takes a part of it along.
  const Switches images = {
      {"device", "sim"},        {"model", "resnet"},       {"depth", "20"},
      {"width", "32"},          {"batch", "64"},           {"eval", "off"},
      {"augment_on", "device"}, {"workers", "8"},          {"samples", "40000"},
      {"precision", "tf32"},    {"ranks", "16"},           {"ranks_per_node", "4"},
      {"network_us", "11.2"},   {"network_gb_per_s", "10"}};
  check_done(images, "larger-buckets", {{"first_bucket_mb", "2"}});
  // Messages of 25 MiB are small where each takes as long to start as four of them to travel.
  const Switches text = with(kText, {{"ranks", "8"},
                                     {"ranks_per_node", "2"},
                                     {"features", "512"},
                                     {"layers", "6"},
                                     {"sequence", "32"},
                                     {"network_gb_per_s", "20"},
                                     {"network_us", "300"}});
  check_done(text, "larger-buckets", {{"bucket_mb", "100"}, {"first_bucket_mb", "100"}});
}

TEST_CASE("a message that waits for no gradients of its own is not cut") {
  // All gradients go after the backward pass: where 2 MiB end in the second message of 2.2 is not known.
  const Switches run = with(kText, {{"features", "128"},
                                    {"ranks", "8"},
                                    {"ranks_per_node", "2"},
                                    {"overlap", "off"},
                                    {"bucket_mb", "5"},
                                    {"network_us", "50"},
                                    {"network_gb_per_s", "6"}});
  check_done(run, "larger-buckets", {{"first_bucket_mb", "25"}});
  const Predicted before(run);
  const analyzer::Predictor predictor(before.trace, before.analysis);
  CHECK(analyzer::find_fix("larger-buckets")->propose(predictor).setting ==
        "--bucket-mb 25 --first-bucket-mb 25");
  // Of one bucket with gradients in 16 bits nothing goes in parts.
  CHECK_FALSE(Predicted(with(kText, {{"ranks", "4"}, {"compress", "fp16"}, {"features", "64"}}))
                  .applies("smaller-buckets"));
}

TEST_CASE("sums after each of several backward passes run beside that pass") {
  const Switches run = with(kText, {{"ranks", "4"},
                                    {"overlap", "off"},
                                    {"accumulate", "2"},
                                    {"sum_each_batch", "on"},
                                    {"first_bucket_mb", "0"},
                                    {"bucket_mb", "0"},
                                    {"network_gb_per_s", "5"}});
  check_done(run, "overlap-communication", {{"overlap", "on"}}, 0.03);
  const auto judged = [](const Predicted& one) {
    const auto& all = one.analysis.findings;
    return std::ranges::find(all, "comm-not-overlapped", &analyzer::Finding::rule)->status;
  };
  CHECK(judged(Predicted(run)) == analyzer::Status::kFound);
  const Predicted beside(with(run, {{"overlap", "on"}}));
  CHECK(judged(beside) == analyzer::Status::kFine);
  CHECK_FALSE(beside.applies("overlap-communication"));
}

TEST_CASE("all-gathers ahead hide no more than what runs until the host waits for the device") {
  const Switches run = {{"device", "sim"},
                        {"model", "resnet"},
                        {"depth", "20"},
                        {"width", "32"},
                        {"batch", "16"},
                        {"eval", "off"},
                        {"ranks", "4"},
                        {"samples", "40000"},
                        {"workers", "8"},
                        {"node_gb_per_s", "5"},
                        {"shard_parameters", "on"},
                        {"gather_prefetch", "off"}};
  check_done(run, "prefetch-all-gathers", {{"gather_prefetch", "on"}});
  // Each free waits for the device, gathers included.
  const Switches frees = with(run, {{"allocator", "raw"}, {"node_gb_per_s", "0.1"}});
  CHECK(Predicted(frees).step_ns("prefetch-all-gathers") ==
        doctest::Approx(mean_step_ns(frees, {{"gather_prefetch", "on"}})).epsilon(0.02));
  // A host that waits for each op on its stream does not wait for the others.
  check_done(with(run, {{"sync", "op"}}), "prefetch-all-gathers", {{"gather_prefetch", "on"}});
}

}  // namespace headway::trainer
