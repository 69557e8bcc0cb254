// SPDX-License-Identifier: MIT
// Fixes that are predicted from one simulated run and done in another.
#include <doctest/doctest.h>

#include <algorithm>

#include "analyzer/whatif/predict_findings.h"
#include "tests/reference_trainer/simulated_trace/predicted.h"
#include "trace/subset.h"

namespace headway::trainer {
using test::check_done;
using test::kImages;
using test::kText;
using test::mean_step_ns;
using test::Predicted;
using test::Switches;
using test::with;

TEST_CASE("workers that live on from epoch to epoch gain what they are predicted to") {
  check_done(with(kImages, {{"samples", "256"},
                            {"workers", "2"},
                            {"worker_reuse", "off"},
                            {"worker_start_ms", "20"}}),
             "persistent-workers", {{"worker_reuse", "on"}}, 0.1);
  // Epochs of eight batches, eight of them ahead: each of them begins late.
  check_done(with(kImages, {{"samples", "256"},
                            {"workers", "16"},
                            {"prefetch", "8"},
                            {"worker_reuse", "off"},
                            {"worker_start_ms", "20"}}),
             "persistent-workers", {{"worker_reuse", "on"}}, 0.1);
  CHECK_FALSE(Predicted(with(kImages, {{"samples", "256"}, {"workers", "2"}}))
                  .applies("persistent-workers"));
}

TEST_CASE("workers that start with each epoch may cost more than they hide") {
  // Making a batch takes longer than waiting for one did, but the host is ahead of the device.
  check_done(with(kImages, {{"batch", "4"},
                            {"depth", "32"},
                            {"samples", "32"},
                            {"source", "files"},
                            {"decode", "offline"},
                            {"augment", "off"},
                            {"workers", "2"},
                            {"worker_reuse", "off"},
                            {"worker_start_ms", "6"},
                            {"run_ahead", "4"}}),
             "no-workers", {{"workers", "0"}}, 0.05);
  // Four workers on two processors take twice as long for a batch as the training thread will.
  check_done(with(kImages, {{"samples", "256"},
                            {"host_cores", "2"},
                            {"workers", "4"},
                            {"worker_reuse", "off"},
                            {"worker_start_ms", "40"}}),
             "no-workers", {{"workers", "0"}}, 0.05);
}

TEST_CASE("a page cache that fills is warm-up, and does not hide what holds the steps back later") {
  const Switches run = with(kImages, {{"samples", "512"},
                                      {"source", "files"},
                                      {"workers", "2"},
                                      {"gpu", "v100"},
                                      {"augment_on", "device"},
                                      {"storage_latency_ms", "0.7"},
                                      {"world", "757738791"},
                                      {"allocator", "raw"}});
  const Predicted before(run, 100);
  CHECK(before.analysis.steps.dropped_warm_up > 5);
  const double now = mean_step_ns(run, {}, 100);
  CHECK(before.step_ns("samples-in-memory") == doctest::Approx(now).epsilon(0.03));
  const double done = mean_step_ns(run, {{"allocator", "caching"}}, 100);
  CHECK(done < 0.97 * now);
  CHECK(before.step_ns("caching-allocator") == doctest::Approx(done).epsilon(0.05));
}

TEST_CASE("a pause that workers hide costs nothing where batches are what steps wait for") {
  const Switches run = with(kImages, {{"samples", "4096"},
                                      {"source", "files"},
                                      {"storage_latency_ms", "0.2"},
                                      {"workers", "1"},
                                      {"prefetch", "8"},
                                      {"pause_every", "20"},
                                      {"pause_ms", "15"}});
  const double without = mean_step_ns(run, {{"pause_every", "0"}});
  CHECK(mean_step_ns(run) == doctest::Approx(without).epsilon(0.03));
  CHECK(Predicted(run).step_ns("usual-steps") == doctest::Approx(without).epsilon(0.04));
}

TEST_CASE("workers that wait for room in the queue gain by more room") {
  check_done(with(kImages, {{"samples", "2048"},
                            {"workers", "4"},
                            {"prefetch", "1"},
                            {"source", "files"},
                            {"storage_latency_ms", "0.2"}}),
             "deeper-prefetch", {{"prefetch", "5"}}, 0.05);
}

TEST_CASE("a host that waits for each step gains by one step ahead") {
  check_done(with(kText, {{"run_ahead", "1"}, {"launch_us", "6"}}), "run-ahead",
             {{"run_ahead", "2"}});
}

TEST_CASE(
    "a storage that is busy for most of the step bounds what one kernel of the optimizer gains") {
  check_done(with(kImages, {{"samples", "4096"},
                            {"workers", "8"},
                            {"decode", "offline"},
                            {"augment", "off"},
                            {"storage_mb_per_s", "60"},
                            {"fused_optimizer", "off"}}),
             "multi-tensor-optimizer", {{"fused_optimizer", "multi-tensor"}}, 0.06);
}

TEST_CASE(
    "activations between stages of a pipeline have half the bytes in 16 bits, and twice in two "
    "batches") {
  const Switches run = with(kText, {{"ranks", "4"},
                                    {"ranks_per_node", "1"},
                                    {"pipeline", "gpipe"},
                                    {"micro_batches", "2"},
                                    {"network_gb_per_s", "1"},
                                    {"precision", "tf32"},
                                    {"batch", "32"}});
  check_done(run, "half-precision", {{"precision", "bf16"}}, 0.06);
  // Of a batch of recorded size.
  const double batch = mean_step_ns(run, {{"batch", "64"}}) / 2;
  CHECK(Predicted(run).step_ns("larger-batch") == doctest::Approx(batch).epsilon(0.06));
}

TEST_CASE("experts that get as many tokens gain what they are predicted to") {
  const Switches run = with(kText, {{"ranks", "4"},
                                    {"experts", "8"},
                                    {"expert_parallel", "on"},
                                    {"router_imbalance", "3"},
                                    {"features", "512"},
                                    {"heads", "8"},
                                    {"sequence", "256"},
                                    {"batch", "16"},
                                    {"precision", "bf16"}});
  check_done(run, "even-experts", {{"router_imbalance", "1"}}, 0.05);
  const Switches even = with(run, {{"router_imbalance", "1"}});
  const Predicted before(even);
  CHECK_FALSE(before.applies("even-experts"));
  // Twice the tokens go to experts and back.
  const double batch = mean_step_ns(even, {{"batch", "32"}}) / 2;
  CHECK(before.step_ns("larger-batch") == doctest::Approx(batch).epsilon(0.05));
}

TEST_CASE("launches of a phase become one, and its kernels follow each other more closely") {
  SUBCASE("a host that cannot keep up") {
    check_done(with(kImages, {{"batch", "1"}, {"launch_us", "6"}}), "cuda-graph",
               {{"cuda_graph", "on"}}, 0.08);  // such a host shows no gap: a usual one is assumed
  }
  SUBCASE("a device that has enough to do") {
    check_done(with(kText, {{"gpu", "v100"}, {"features", "128"}, {"fused_ln", "off"}}),
               "cuda-graph", {{"cuda_graph", "on"}}, 0.05);
  }
  SUBCASE("gradients that are exchanged meanwhile") {
    check_done(with(kText, {{"ranks", "2"}, {"launch_us", "6"}, {"batch", "2"}}), "cuda-graph",
               {{"cuda_graph", "on"}}, 0.08);
  }
  SUBCASE("a host that pauses, and whose full queue of launches bounds how far it is ahead") {
    check_done(with(kText, {{"layers", "8"},
                            {"heads", "16"},
                            {"sequence", "64"},
                            {"batch", "1"},
                            {"accumulate", "2"},
                            {"fused_ln", "off"},
                            {"precision", "amp-o1"},
                            {"run_ahead", "4"},
                            {"pause_every", "4"},
                            {"pause_ms", "8"}}),
               "cuda-graph", {{"cuda_graph", "on"}}, 0.1);
  }
  SUBCASE("parameters that are gathered meanwhile") {
    check_done(
        with(kText,
             {{"ranks", "2"}, {"launch_us", "6"}, {"batch", "2"}, {"shard_parameters", "on"}}),
        "cuda-graph", {{"cuda_graph", "on"}}, 0.05);
  }
}

TEST_CASE(
    "ranks that are slow in turn are evened step by step, and sentences of like length gain more") {
  const Switches run = {{"device", "sim"},     {"gpu", "a100"},       {"model", "gnmt"},
                        {"data", "generated"}, {"layers", "2"},       {"features", "1024"},
                        {"sequence", "1024"},  {"batch", "4"},        {"ranks", "4"},
                        {"precision", "bf16"}, {"balance", "random"}, {"eval", "off"}};
  const Predicted before(run);
  CHECK(before.step_ns("even-ranks") < 0.95 * mean_step_ns(run));
  CHECK(before.step_ns("even-ranks") > mean_step_ns(run, {{"balance", "sorted"}}));
}

TEST_CASE("kernels bound by arithmetic gain by the clock") {
  check_done(with(kImages, {{"width", "64"},
                            {"batch", "256"},
                            {"depth", "20"},
                            {"clock", "0.6"},
                            {"workers", "16"},
                            {"source", "memory"}}),
             "full-clock", {{"clock", "1"}}, 0.1);
}

TEST_CASE("code that is loaded before the steps is not loaded in them") {
  check_done(with(kText, {{"module_loading", "lazy"}, {"load_code_ms", "8"}}), "eager-loading",
             {{"module_loading", "eager"}});
}

TEST_CASE("casts that go away leave what half precision throughout is shorter than") {
  const Switches run =
      with(kText, {{"gpu", "a100-80gb"}, {"precision", "amp-o1"}, {"batch", "64"}});
  const Predicted before(run);
  const double now = mean_step_ns(run);
  CHECK(before.step_ns("no-casts") < 0.97 * now);
  CHECK(before.step_ns("no-casts") > mean_step_ns(run, {{"precision", "amp-o2"}}));
}

TEST_CASE("data gradients of strided convolutions take as long as those of others") {
  check_done(with(kImages, {{"width", "64"},
                            {"batch", "256"},
                            {"dgrad", "slow"},
                            {"workers", "16"},
                            {"source", "memory"}}),
             "faster-gradients", {{"dgrad", "fast"}}, 0.05);
}

TEST_CASE("a sum at one rank becomes a ring") {
  // Of a drawn network: those of the tables lose nothing in a ring's pieces.
  check_done(with(kText, {{"world", "11"},
                          {"ranks", "8"},
                          {"ranks_per_node", "1"},
                          {"topology", "parameter-server"}}),
             "all-reduce-instead-of-parameter-server", {{"topology", "flat"}}, 0.35);
}

TEST_CASE("a sum at one rank holds the launches behind it up where they fill the stream's queue") {
  check_done(with(kText, {{"gpu", "rtx-4090"},
                          {"layers", "12"},
                          {"batch", "2"},
                          {"fused_attention", "off"},
                          {"fused_bias_act", "off"},
                          {"fused_ln", "off"},
                          {"fused_optimizer", "off"},
                          {"ranks", "4"},
                          {"topology", "parameter-server"}}),
             "all-reduce-instead-of-parameter-server", {{"topology", "flat"}}, 0.35);
}

TEST_CASE("a thread that makes its own batches sleeps at no epoch's end") {
  check_done(with(kImages, {{"gpu", "a100-80gb"},
                            {"depth", "50"},
                            {"width", "64"},
                            {"precision", "tf32"},
                            {"samples", "256"},
                            {"workers", "0"},
                            {"worker_reuse", "off"},
                            {"ranks", "2"}}),
             "half-precision", {{"precision", "bf16"}}, 0.15);
}

TEST_CASE("sums of many small tensors fill a stream's queue with waits for events") {
  check_done(with(kText, {{"gpu", "rtx-4090"},
                          {"layers", "12"},
                          {"features", "1024"},
                          {"batch", "2"},
                          {"bucket_mb", "0"},
                          {"first_bucket_mb", "0"},
                          {"ranks", "4"},
                          {"topology", "parameter-server"}}),
             "all-reduce-instead-of-parameter-server", {{"topology", "flat"}}, 0.35);
}

TEST_CASE("products in BF16 gain by FP16 on matrix units that take no BF16") {
  check_done(with(kText, {{"gpu", "v100"}, {"precision", "bf16"}, {"batch", "32"}}),
             "half-precision", {{"precision", "amp-o2"}}, 0.15);
}

TEST_CASE("TF32 costs neither memory nor time, and gains nothing where there is none") {
  const Switches raw = with(kText, {{"gpu", "a100-80gb"}, {"allocator", "raw"}, {"sync", "7"}});
  CHECK(mean_step_ns(raw, {{"precision", "tf32"}}) < mean_step_ns(raw));
  const Switches old = with(kText, {{"gpu", "v100"}});
  CHECK(mean_step_ns(old, {{"precision", "tf32"}}) == doctest::Approx(mean_step_ns(old)));
}

TEST_CASE("a kernel for each parameter moves as many bytes as one for all") {
  check_done(with(kText, {{"gpu", "l4"}, {"features", "512"}, {"fused_optimizer", "parameter"}}),
             "multi-tensor-optimizer", {{"fused_optimizer", "multi-tensor"}}, 0.05);
}

TEST_CASE("of kernels that become one, the tensors in between are not allocated either") {
  check_done(with(kText, {{"fused_attention", "off"}, {"allocator", "raw"}}), "fused-attention",
             {{"fused_attention", "on"}}, 0.06);
}

TEST_CASE("every rank of a file updates its parameters in one kernel") {
  check_done(with(kText, {{"ranks", "2"}, {"optimizer", "adam"}, {"fused_optimizer", "off"}}),
             "multi-tensor-optimizer", {{"fused_optimizer", "multi-tensor"}}, 0.05);
}

TEST_CASE("sixteen bits gain where kernels fill the device, and little where they do not") {
  const Switches large = with(
      kText, {{"gpu", "a100-80gb"}, {"precision", "tf32"}, {"batch", "64"}, {"sequence", "256"}});
  check_done(large, "half-precision", {{"precision", "bf16"}}, 0.15);
  const Predicted small(with(
      kText, {{"gpu", "a100-80gb"}, {"precision", "tf32"}, {"batch", "1"}, {"sequence", "16"}}));
  CHECK(small.step_ns("half-precision") == doctest::Approx(mean_step_ns(small.run)).epsilon(0.05));
}

TEST_CASE("workers that start with each epoch hide no other gain") {
  check_done(with(kImages, {{"samples", "256"},
                            {"workers", "2"},
                            {"worker_reuse", "off"},
                            {"worker_start_ms", "20"},
                            {"allocator", "raw"}}),
             "caching-allocator", {{"allocator", "caching"}}, 0.07);
}

TEST_CASE("ranks that wait for each step gain by one step ahead, too") {
  check_done(with(kText, {{"ranks", "2"}, {"run_ahead", "1"}, {"launch_us", "6"}}), "run-ahead",
             {{"run_ahead", "2"}}, 0.05);
}

TEST_CASE("sums in stages go in larger buckets") {
  check_done(with(kText, {{"ranks", "4"},
                          {"ranks_per_node", "2"},
                          {"topology", "hierarchical"},
                          {"network_gb_per_s", "10"},
                          {"network_us", "30"},
                          {"first_bucket_mb", "0.25"},
                          {"bucket_mb", "0.5"}}),
             "larger-buckets", {{"bucket_mb", "25"}, {"first_bucket_mb", "1"}}, 0.08);
}

TEST_CASE("a message of all gradients goes in smaller buckets while the backward pass runs") {
  const Switches large = with(kText, {{"features", "512"},
                                      {"heads", "8"},
                                      {"sequence", "256"},
                                      {"ranks", "2"},
                                      {"ranks_per_node", "1"},
                                      {"network_gb_per_s", "8"},
                                      {"bucket_mb", "100"}});
  check_done(large, "smaller-buckets", {{"bucket_mb", "5"}}, 0.08);
  // Allocations wait for all of the device, and would wait for each part.
  const Predicted raw(with(large, {{"allocator", "raw"}}));
  CHECK_FALSE(raw.applies("smaller-buckets"));
}

TEST_CASE("sums in 16 bits move less than gathers of 8 among many ranks") {
  const Switches gathered = with(kText, {{"features", "512"},
                                         {"heads", "8"},
                                         {"ranks", "16"},
                                         {"ranks_per_node", "1"},
                                         {"network_gb_per_s", "10"},
                                         {"compress", "int8"}});
  check_done(gathered, "sum-in-16-bits", {{"compress", "fp16"}}, 0.1);
  CHECK_FALSE(Predicted(with(gathered, {{"compress", "dgc"}})).applies("sum-in-16-bits"));
}

TEST_CASE("a pause before each step that a collective hides is seen on the host") {
  // Ranks pause for 0.2 to 1.8 ms, and the device waits for the slowest one in its collective.
  const Switches drawn = with(kText, {{"gpu", "a100-40gb"},
                                      {"world", "37110449"},
                                      {"features", "128"},
                                      {"heads", "2"},
                                      {"layers", "12"},
                                      {"sequence", "32"},
                                      {"precision", "amp-o2"},
                                      {"ranks", "4"},
                                      {"network_us", "22.4"}});
  check_done(drawn, "no-pauses", {{"pause_every", "0"}}, 0.05);
}

TEST_CASE("sums in stages are not made in stages again") {
  const Switches nodes = with(kText, {{"ranks", "8"}, {"ranks_per_node", "2"}});
  CHECK(Predicted(nodes).applies("hierarchical-allreduce"));
  CHECK_FALSE(
      Predicted(with(nodes, {{"topology", "hierarchical"}})).applies("hierarchical-allreduce"));
}

TEST_CASE("half precision makes every stage of sums by nodes shorter") {
  check_done(with(kText, {{"ranks", "4"},
                          {"ranks_per_node", "2"},
                          {"topology", "hierarchical"},
                          {"network_gb_per_s", "1"},
                          {"node_gb_per_s", "2"},
                          {"overlap", "off"},
                          {"first_bucket_mb", "0.05"},
                          {"bucket_mb", "0.2"}}),
             "compress-gradients", {{"compress", "fp16"}}, 0.05);
}

TEST_CASE("messages of a kilobyte between stages take no less for half the bytes") {
  check_done(with(kText, {{"features", "32"},
                          {"heads", "2"},
                          {"sequence", "16"},
                          {"batch", "1"},
                          {"ranks", "4"},
                          {"ranks_per_node", "2"},
                          {"network_us", "40"},
                          {"pipeline", "1f1b"},
                          {"precision", "amp-o1"}}),
             "half-throughout", {{"precision", "bf16"}}, 0.05);
}

TEST_CASE("a kernel that unscales a gradient is no pass of its update") {
  check_done(with(kText, {{"features", "1024"},
                          {"batch", "1"},
                          {"optimizer", "adam"},
                          {"fused_optimizer", "parameter"},
                          {"precision", "amp-o2"}}),
             "multi-tensor-optimizer", {{"fused_optimizer", "multi-tensor"}}, 0.05);
}

TEST_CASE("sums that PowerSGD makes in two rounds go in larger buckets") {
  check_done(with(kText, {{"ranks", "4"},
                          {"ranks_per_node", "1"},
                          {"network_us", "50"},
                          {"compress", "powersgd"},
                          {"powersgd_rank", "1"},
                          {"first_bucket_mb", "0.05"},
                          {"bucket_mb", "0.05"}}),
             "larger-buckets", {{"bucket_mb", "25"}, {"first_bucket_mb", "25"}}, 0.08);
}

TEST_CASE("what a parameter server sums up goes in larger buckets") {
  check_done(with(kText, {{"ranks", "4"},
                          {"ranks_per_node", "1"},
                          {"network_us", "50"},
                          {"topology", "parameter-server"},
                          {"first_bucket_mb", "0"},
                          {"bucket_mb", "0"}}),
             "larger-buckets", {{"bucket_mb", "25"}, {"first_bucket_mb", "1"}}, 0.08);
}

TEST_CASE("an op that is not run is not waited for") {
  check_done(with(kText, {{"recompute", "on"}, {"sync", "op"}}), "keep-activations",
             {{"recompute", "off"}}, 0.05);
}

TEST_CASE("layers that a compiler made otherwise when they run again are told") {
  check_done(with(kText, {{"recompute", "on"}, {"fused_ln", "off"}}), "keep-activations",
             {{"recompute", "off"}}, 0.05);
}

TEST_CASE("a host further ahead hides no more of a restart than the steps that it is ahead") {
  // 120 ms of restart every 16 steps of 5.4 ms: two more steps ahead hide a tenth, a host without limit two thirds.
  const Switches run = with(kImages, {{"gpu", "t4"},
                                      {"width", "32"},
                                      {"batch", "64"},
                                      {"samples", "1024"},
                                      {"decode", "offline"},
                                      {"source", "memory"},
                                      {"workers", "8"},
                                      {"host_cores", "24"},
                                      {"prefetch", "16"},
                                      {"worker_reuse", "off"},
                                      {"worker_start_ms", "120"},
                                      {"run_ahead", "2"}});
  const double done = mean_step_ns(run, {{"run_ahead", "4"}});
  CHECK(mean_step_ns(run, {{"worker_reuse", "on"}}) < 0.9 * done);
  CHECK(Predicted(run).step_ns("run-ahead") == doctest::Approx(done).epsilon(0.05));
}

TEST_CASE("parameters that ranks share travel in 16 bits with the products") {
  check_done(with(kText, {{"ranks", "4"},
                          {"ranks_per_node", "1"},
                          {"network_gb_per_s", "2"},
                          {"shard_parameters", "on"}}),
             "half-precision", {{"precision", "bf16"}}, 0.08);
}

TEST_CASE("sums of columns go together with what is computed before them") {
  const Switches run = with(kText, {{"batch", "1"}, {"fused_ln", "off"}, {"precision", "bf16"}});
  const Predicted before(run);
  const double now = mean_step_ns(run);
  CHECK(before.step_ns("fuse-chains") < 0.95 * now);
  CHECK(before.step_ns("fuse-chains") ==
        doctest::Approx(mean_step_ns(run, {{"fused_ln", "on"}})).epsilon(0.1));
}

TEST_CASE("a stretch whose first waits began before it is predicted as the whole is") {
  const Predicted whole(with(kImages, {{"width", "64"}, {"batch", "512"}, {"source", "memory"}}));
  const trace::Trace& all = whole.trace;
  const TimeNs begin = whole.analysis.steps.all[20].host.begin;
  auto after = [&](const auto& ends) {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t i = 0; i < ends.size(); ++i)
      if (ends[i] > begin) rows.push_back(i);
    return rows;
  };
  const trace::Trace stretch = trace::take_rows(
      all,
      {after(all.ranges.end), after(all.calls.end), after(all.device_ops.end), after(all.io.end)});
  const analyzer::Analysis analysis = analyzer::analyze(stretch);
  const analyzer::Predictor predictor(stretch, analysis);
  const analyzer::Proposal proposal = analyzer::find_fix("tensor-cores")->propose(predictor);
  REQUIRE(proposal.applies);
  CHECK(static_cast<double>(predictor.predict(proposal.scenario).step.ns) ==
        doctest::Approx(whole.step_ns("tensor-cores")).epsilon(0.1));
}

TEST_CASE("a bias behind a product and the sum of its gradient become part of products") {
  for (const char* precision : {"fp32", "tf32"}) {
    CAPTURE(precision);
    check_done(with(kText, {{"batch", "1"},
                            {"precision", precision},
                            {"graph_compiler", "off"},
                            {"fused_bias_act", "off"}}),
               "fuse-chains", {{"fused_bias_act", "on"}}, 0.03);
  }
}

TEST_CASE("a host that stops between steps without a word: as a run in which it does not") {
  check_done(with(kText, {{"pause_every", "7"}, {"pause_ms", "10"}}), "no-pauses",
             {{"pause_every", "0"}});
  check_done(with(kText, {{"pause_every", "1"}, {"pause_ms", "2"}}), "no-pauses",
             {{"pause_every", "0"}});
  check_done(with(kText, {{"ranks", "2"}, {"pause_every", "5"}, {"pause_ms", "5"}}), "no-pauses",
             {{"pause_every", "0"}}, 0.05);
  CHECK_FALSE(Predicted(kText).applies("no-pauses"));
}

TEST_CASE("pauses of a drawn machine go by the switch") {
  // This seed stops the host for 2.4 ms before every fifth step.
  const Switches drawn = with(kText, {{"world", "14"}});
  CHECK(mean_step_ns(drawn, {{"pause_every", "0"}}) < 0.95 * mean_step_ns(drawn));
  CHECK(Predicted(drawn).applies("no-pauses"));
}

TEST_CASE("products whose blocks leave multiprocessors without work gain by split-k") {
  const Switches few = with(kText, {{"gpu", "a100-80gb"}, {"features", "1024"}, {"batch", "1"}});
  SUBCASE("by as much as predicted") {
    check_done(few, "split-k", {{"split_k", "on"}}, 0.03);
  }
  SUBCASE("on a machine that nobody chose") {
    check_done(with(few, {{"world", "13"}}), "split-k", {{"split_k", "on"}}, 0.1);
  }
  SUBCASE("sums of a shorter batch are as long") {
    const Switches sentences = {
        {"device", "sim"},     {"gpu", "h100-pcie"},  {"model", "gnmt"},      {"data", "generated"},
        {"features", "512"},   {"layers", "1"},       {"sequence", "16"},     {"batch", "1"},
        {"balance", "random"}, {"precision", "tf32"}, {"world", "857973741"}, {"eval", "off"}};
    CHECK(Predicted(sentences).step_ns("split-k") ==
          doctest::Approx(mean_step_ns(sentences, {{"split_k", "on"}})).epsilon(0.04));
  }
  SUBCASE("large ones fill the device") {
    CHECK(mean_step_ns(few, {{"split_k", "on"}, {"batch", "64"}}) ==
          doctest::Approx(mean_step_ns(few, {{"batch", "64"}})).epsilon(0.05));
  }
}

TEST_CASE("activations between products in 16 bits need no casts") {
  check_done(with(kText, {{"gpu", "a100-80gb"}, {"precision", "amp-o1"}, {"batch", "64"}}),
             "half-throughout", {{"precision", "bf16"}}, 0.1);
}

TEST_CASE("casts that go away are not allocated either") {
  check_done(
      with(kText,
           {{"gpu", "a100-80gb"}, {"precision", "amp-o1"}, {"batch", "16"}, {"allocator", "raw"}}),
      "half-throughout", {{"precision", "bf16"}}, 0.1);
}

TEST_CASE("every rank of a file assigns all its samples at once") {
  check_done({{"device", "sim"},
              {"model", "ssd"},
              {"depth", "8"},
              {"width", "8"},
              {"batch", "32"},
              {"eval", "off"},
              {"ranks", "2"},
              {"launch_us", "8"},
              {"workers", "64"},
              {"host_cores", "128"},
              {"assign", "per-sample"}},
             "batch-samples", {{"assign", "batched"}}, 0.1);
}

TEST_CASE("products whose rows are not aligned gain by padded features") {
  const Switches odd = {{"device", "sim"}, {"model", "transformer"}, {"features", "1020"},
                        {"heads", "4"},    {"layers", "4"},          {"sequence", "512"},
                        {"batch", "16"},   {"precision", "bf16"},    {"eval", "off"}};
  const Switches padded = {{"features", "1024"}};
  check_done(odd, "pad-shapes", padded, 0.05);
  CHECK_FALSE(Predicted(with(odd, padded)).applies("pad-shapes"));
}

TEST_CASE("activations that are kept are not made again") {
  check_done(with(kText, {{"gpu", "a100-80gb"}, {"batch", "32"}, {"recompute", "on"}}),
             "keep-activations", {{"recompute", "off"}}, 0.03);
}

TEST_CASE("a larger batch gains nothing where the storage gives all that it has") {
  const Switches run = with(kImages, {{"batch", "64"},
                                      {"samples", "1000"},
                                      {"workers", "8"},
                                      {"prefetch", "8"},
                                      {"storage_mb_per_s", "10"}});
  const double now = mean_step_ns(run);
  const double done = mean_step_ns(run, {{"batch", "128"}}) / 2;
  CHECK(done == doctest::Approx(now).epsilon(0.03));
  CHECK(Predicted(run).step_ns("larger-batch") == doctest::Approx(done).epsilon(0.05));
}

TEST_CASE(
    "parameters that ranks share, in half precision: half the way, with what lies between "
    "products") {
  check_done(with(kText, {{"ranks", "4"},
                          {"ranks_per_node", "1"},
                          {"batch", "1"},
                          {"shard_parameters", "on"},
                          {"precision", "amp-o1"}}),
             "half-throughout", {{"precision", "bf16"}}, 0.1);
}

TEST_CASE("the host's pauses inside of steps go away") {
  // The drawn machine of this seed stops for 18.6 ms in every fifth step.
  const Switches run = with(kText, {{"world", "26"}});
  check_done(run, "no-pauses", {{"pause_every", "0"}}, 0.08);
}

TEST_CASE("workers share what processors the training thread leaves, however many they are") {
  const Switches run = with(kImages, {{"batch", "256"},
                                      {"samples", "4096"},
                                      {"workers", "2"},
                                      {"host_cores", "2"},
                                      {"prefetch", "32"}});
  // Long enough that the batches which are made before the first step do not count.
  const double two = mean_step_ns(run, {}, 600);
  const double sixteen = mean_step_ns(run, {{"workers", "16"}}, 600);
  CHECK(sixteen > 0.95 * two);
}

TEST_CASE("what workers compute takes as long as the threads beside them leave it") {
  // Eight workers and a training thread on two processors; files come from memory, so that reading them computes, too.
  const Switches run = with(kImages, {{"data", "generated"},
                                      {"source", "files"},
                                      {"batch", "256"},
                                      {"samples", "4096"},
                                      {"workers", "8"},
                                      {"prefetch", "8"},
                                      {"host_cores", "2"},
                                      {"sync", "op"}});
  check_done(run, "remove-syncs", {{"sync", "never"}}, 0.04);
  check_done(run, "augment-on-device", {{"augment_on", "device"}}, 0.04);
  const double fewer = mean_step_ns(run, {{"workers", "1"}, {"prefetch", "1"}});
  CHECK(Predicted(run).step_ns("fewer-workers") == doctest::Approx(fewer).epsilon(0.05));
}

TEST_CASE("sentences of about the same length in one batch need no padding") {
  const Switches sentences = {{"device", "sim"},     {"model", "gnmt"}, {"features", "256"},
                              {"sequence", "32"},    {"batch", "32"},   {"layers", "2"},
                              {"balance", "random"}, {"eval", "off"}};
  SUBCASE("as kernels take less") {
    check_done(with(sentences, {{"rnn", "persistent"}}), "less-padding", {{"balance", "sorted"}},
               0.15);
  }
  SUBCASE("as fewer kernels are launched") {
    check_done(with(sentences, {{"rnn", "standard"}}), "less-padding", {{"balance", "sorted"}},
               0.15);
  }
  const Predicted sorted(with(sentences, {{"balance", "sorted"}}));
  CHECK(sorted.step_ns("less-padding") > 0.85 * mean_step_ns(sorted.run));
}

TEST_CASE("a host that cannot keep up launches half as often for micro batches of twice the size") {
  const Switches run = with(kText, {{"ranks", "4"},
                                    {"batch", "32"},
                                    {"sequence", "32"},
                                    {"pipeline", "gpipe"},
                                    {"micro_batches", "16"},
                                    {"launch_us", "9"}});
  check_done(run, "fewer-micro-batches", {{"micro_batches", "8"}}, 0.08);
  // Stages that work in turns: what is left keeps as many passes ahead.
  check_done(with(run, {{"ranks", "2"}, {"pipeline", "1f1b"}, {"micro_batches", "8"}}),
             "fewer-micro-batches", {{"micro_batches", "4"}}, 0.08);
  CHECK_FALSE(Predicted(with(kText, {{"ranks", "2"}})).applies("fewer-micro-batches"));
}

TEST_CASE("products of few samples read their weights once for twice as many") {
  const Switches run = with(kText, {{"gpu", "a100"},
                                    {"features", "1024"},
                                    {"heads", "16"},
                                    {"sequence", "64"},
                                    {"batch", "1"},
                                    {"precision", "tf32"}});
  const double done = mean_step_ns(run, {{"batch", "2"}}) / 2;
  CHECK(Predicted(run).step_ns("larger-batch") == doctest::Approx(done).epsilon(0.04));
}

TEST_CASE("what a free does after its wait goes away with it") {
  check_done(with(kText, {{"allocator", "raw"},
                          {"batch", "1"},
                          {"recompute", "on"},
                          {"launch_us", "29.5"},
                          {"world", "704807280"}}),
             "caching-allocator", {{"allocator", "caching"}}, 0.03);
}

TEST_CASE("workers that fill their queue show a faster storage than steps ask for") {
  check_done({{"device", "sim"},
              {"model", "resnet"},
              {"depth", "14"},
              {"width", "32"},
              {"batch", "512"},
              {"samples", "1000"},
              {"eval", "off"},
              {"gpu", "b200"},
              {"world", "574809758"},
              {"workers", "2"},
              {"prefetch", "16"},
              {"shuffle", "off"},
              {"storage_latency_ms", "1.39"}},
             "tensor-cores", {{"precision", "tf32"}}, 0.03);
}

TEST_CASE("a storage whose limit shows only while workers fill their queue") {
  check_done(with(kImages, {{"depth", "32"},
                            {"width", "64"},
                            {"batch", "256"},
                            {"samples", "1000"},
                            {"gpu", "t4"},
                            {"world", "981595"},
                            {"sync", "op"},
                            {"data", "generated"},
                            {"decode", "offline"},
                            {"augment_on", "device"},
                            {"workers", "8"},
                            {"prefetch", "8"},
                            {"storage_mb_per_s", "1.31"}}),
             "half-precision", {{"precision", "amp-o2"}}, 0.1);
}

TEST_CASE("products in TF32 gain by BF16 where TF32 is as fast as FP32") {
  check_done(
      with(kText,
           {{"gpu", "rtx-4090"}, {"features", "512"}, {"batch", "64"}, {"precision", "tf32"}}),
      "half-precision", {{"precision", "bf16"}}, 0.1);
}

TEST_CASE("what other steps do without stays the first fix beside one that takes little of it") {
  // The drawn machine pauses in every tenth step; workers that start with each epoch cost a fraction of that.
  Predicted before({{"device", "sim"},
                    {"model", "resnet"},
                    {"depth", "26"},
                    {"width", "32"},
                    {"batch", "64"},
                    {"eval", "off"},
                    {"world", "852189506"},
                    {"host_cores", "2"},
                    {"gpu", "a100-80gb"},
                    {"storage_mb_per_s", "70.1"},
                    {"samples", "1024"},
                    {"workers", "2"},
                    {"worker_reuse", "off"},
                    {"worker_start_ms", "6.82"},
                    {"precision", "tf32"},
                    {"decode", "offline"},
                    {"ranks", "2"}},
                   120);
  analyzer::predict_findings(before.trace, before.analysis);
  const auto finding =
      std::ranges::find(before.analysis.findings, "step-outlier", &analyzer::Finding::rule);
  REQUIRE(finding != before.analysis.findings.end());
  REQUIRE(finding->predicted);
  CHECK(finding->predicted->fix == "usual-steps");
  const auto weak =
      std::ranges::find(finding->fixes, "persistent-workers", &analyzer::PredictedGain::fix);
  REQUIRE(weak != finding->fixes.end());
  CHECK(weak->share < finding->predicted->share / 2);
}

}  // namespace headway::trainer
