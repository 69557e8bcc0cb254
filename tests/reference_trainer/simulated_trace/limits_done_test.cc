// SPDX-License-Identifier: MIT
// Fixes that something else than what they mend limits, predicted from one simulated run and done in another.
#include <doctest/doctest.h>

#include <algorithm>

#include "analyzer/whatif/predict_findings.h"
#include "analyzer/whatif/replayed_fixes.h"
#include "tests/reference_trainer/simulated_trace/predicted.h"

namespace headway::trainer {
namespace {

using test::kImages;
using test::kText;
using test::mean_step_ns;
using test::Predicted;
using test::Switches;
using test::with;

/// Predicted as done; `gains`: whether it is worth anything.
void check(const Switches& run, std::string_view fix, const Switches& change, bool gains,
           double within) {
  const Predicted before(run);
  const double now = mean_step_ns(run);
  const double done = mean_step_ns(run, change);
  CAPTURE(now);
  REQUIRE(before.applies(fix));
  CHECK((done < 0.97 * now) == gains);
  CHECK(before.step_ns(fix) == doctest::Approx(done).epsilon(within));
}

}  // namespace

TEST_CASE("gradients need no unscaling in BF16") {
  check(
      with(kText, {{"precision", "amp-o2"}, {"fused_optimizer", "parameter"}, {"launch_us", "15"}}),
      "no-loss-scaling", {{"precision", "bf16"}}, true, 0.03);
}

TEST_CASE("small sums in stages inside one node are faster as one ring") {
  // A drawn machine, where starting a collective takes its time. How much longer a ring's steps take than those of stages,
  // the recording does not show.
  check(with(kText, {{"gpu", "h100-pcie"},
                     {"world", "806167157"},
                     {"ranks", "4"},
                     {"ranks_per_node", "4"},
                     {"topology", "hierarchical"},
                     {"overlap", "off"},
                     {"first_bucket_mb", "0"},
                     {"bucket_mb", "0"}}),
        "flat-allreduce", {{"topology", "flat"}}, true, 0.12);
}

TEST_CASE("all stages of a bucket wait for its last gradient, which ends the backward pass") {
  check(with(kText, {{"ranks", "4"},
                     {"ranks_per_node", "2"},
                     {"network_gb_per_s", "10"},
                     {"topology", "hierarchical"},
                     {"overlap", "off"},
                     {"first_bucket_mb", "100"},
                     {"bucket_mb", "100"}}),
        "overlap-communication", {{"overlap", "on"}}, false, 0.03);
}

TEST_CASE("sums that a free of memory waits for run beside nothing") {
  check(with(kText, {{"ranks", "4"},
                     {"ranks_per_node", "1"},
                     {"network_gb_per_s", "10"},
                     {"allocator", "raw"},
                     {"overlap", "off"}}),
        "overlap-communication", {{"overlap", "on"}}, false, 0.05);
}

TEST_CASE("without a parameter server, ranks of one node sum over the links between them") {
  check(with(kText, {{"gpu", "b200"},
                     {"world", "262842333"},
                     {"features", "1024"},
                     {"layers", "2"},
                     {"sequence", "16"},
                     {"network_us", "63"},
                     {"ranks", "8"},
                     {"ranks_per_node", "8"},
                     {"topology", "parameter-server"},
                     {"overlap", "off"},
                     {"first_bucket_mb", "1"},
                     {"bucket_mb", "1"}}),
        "all-reduce-instead-of-parameter-server", {{"topology", "flat"}}, true, 0.1);
}

TEST_CASE(
    "without a parameter server, a small sum takes six hops between four nodes instead of two") {
  check(with(kText, {{"ranks", "8"},
                     {"ranks_per_node", "2"},
                     {"network_us", "10"},
                     {"first_bucket_mb", "0"},
                     {"bucket_mb", "0"},
                     {"topology", "parameter-server"}}),
        "all-reduce-instead-of-parameter-server", {{"topology", "hierarchical"}}, false, 0.1);
}

TEST_CASE("a slow link inside the nodes decides what sums there gain") {
  check(with(kText, {{"ranks", "4"},
                     {"ranks_per_node", "2"},
                     {"node_gb_per_s", "1"},
                     {"network_gb_per_s", "10"},
                     {"topology", "parameter-server"},
                     {"overlap", "off"}}),
        "all-reduce-instead-of-parameter-server", {{"topology", "hierarchical"}}, false, 0.15);
}

TEST_CASE("augmenting elsewhere gains nothing where a storage gives all it has") {
  check(with(kImages, {{"data", "generated-pictures"},
                       {"image_size", "96"},
                       {"decode", "offline"},
                       {"workers", "8"},
                       {"storage_mb_per_s", "50"},
                       {"samples", "2000"}}),
        "augment-on-device", {{"augment_on", "device"}}, false, 0.1);
}

TEST_CASE("processors bound more workers, and a training thread that waits takes none of them") {
  check(with(kImages, {{"data", "generated-pictures"},
                       {"image_size", "96"},
                       {"batch", "128"},
                       {"workers", "1"},
                       {"host_cores", "2"},
                       {"samples", "4000"}}),
        "more-workers", {{"workers", "2"}, {"prefetch", "3"}}, true, 0.12);
}

TEST_CASE("launches more frequent than one takes still show what it takes") {
  // A machine whose launches take 8.5 µs to arrive, from a host that makes one every 7.
  check(with(kText, {{"gpu", "b200"},
                     {"world", "489511391"},
                     {"features", "32"},
                     {"precision", "amp-o1"},
                     {"launch_us", "1.51"}}),
        "cuda-graph", {{"cuda_graph", "on"}}, true, 0.1);
}

TEST_CASE("a larger batch has no more gradients to compress") {
  const Switches run = with(kText, {{"ranks", "8"},
                                    {"batch", "2"},
                                    {"launch_us", "3"},
                                    {"compress", "dgc"},
                                    {"dgc_warm_up", "0"},
                                    {"network_gb_per_s", "2"}});
  // A step of twice the samples, per recorded batch.
  const double done = mean_step_ns(run, {{"batch", "4"}}) / 2;
  CHECK(Predicted(run).step_ns("larger-batch") == doctest::Approx(done).epsilon(0.08));
}

TEST_CASE("kernels beside fewer sums are slowed down less") {
  // A drawn machine on which communication slows what runs beside it. Sums of a few kilobytes reach half of the link's rate,
  // and how much more larger ones reach, the recording does not show.
  check(with(kImages, {{"gpu", "t4"},
                       {"world", "527644466"},
                       {"depth", "32"},
                       {"data", "generated"},
                       {"ranks", "2"},
                       {"first_bucket_mb", "0"},
                       {"bucket_mb", "0"},
                       {"topology", "hierarchical"}}),
        "larger-buckets", {{"first_bucket_mb", "1"}, {"bucket_mb", "25"}}, true, 0.08);
}

TEST_CASE("copies that fill the link are a finding that only fewer bytes mend") {
  const auto finding_at = [](const char* mb_per_s) {
    Predicted run(
        with(kImages, {{"source", "memory"}, {"h2d", "async"}, {"link_mb_per_s", mb_per_s}}));
    analyzer::predict_findings(run.trace, run.analysis);
    const auto found =
        std::ranges::find(run.analysis.findings, "copy-not-overlapped", &analyzer::Finding::rule);
    REQUIRE(found != run.analysis.findings.end());
    return *found;
  };
  const analyzer::Finding full = finding_at("1");
  CHECK(full.status == analyzer::Status::kFound);
  CHECK(full.basis == analyzer::FigureBasis::kExposed);
  CHECK(full.share_of_step > 0.9);
  CHECK(full.claim.find("only fewer bytes help") != std::string::npos);
  // Less busy: overlapping them hides what there is to hide.
  const analyzer::Finding busy = finding_at("300");
  CHECK(busy.status == analyzer::Status::kFound);
  CHECK(busy.basis == analyzer::FigureBasis::kReplay);
}

TEST_CASE("casts of weights and sums of their gradients take no longer in a larger batch") {
  const Switches run = with(kText, {{"features", "1024"},
                                    {"sequence", "16"},
                                    {"batch", "2"},
                                    {"ranks", "2"},
                                    {"accumulate", "4"},
                                    {"precision", "amp-o1"}});
  const double done = mean_step_ns(run, {{"batch", "4"}}) / 2;
  CHECK(Predicted(run).step_ns("larger-batch") == doctest::Approx(done).epsilon(0.05));
}

TEST_CASE("a stop of the host in one place is named, though launches take more of the step") {
  // The device still updates what the step before learnt: 5 % of the step are seen of a stop that costs 15.
  Predicted run(with(kText, {{"gpu", "a10"},
                             {"world", "234281171"},
                             {"heads", "8"},
                             {"layers", "12"},
                             {"sequence", "32"},
                             {"batch", "16"},
                             {"window", "8"},
                             {"dropout", "0"},
                             {"optimizer", "adam"},
                             {"precision", "bf16"},
                             {"jitter", "0.0114"},
                             {"launch_us", "17.5"}}));
  const double now = mean_step_ns(run.run);
  CHECK(mean_step_ns(run.run, {{"pause_every", "0"}}) < 0.9 * now);
  analyzer::predict_findings(run.trace, run.analysis);
  CHECK(std::ranges::any_of(run.analysis.findings, [&](const analyzer::Finding& one) {
    return one.status == analyzer::Status::kFound && one.rule == "host-bound" &&
           one.fixes.front().fix == "free-host";
  }));
}

TEST_CASE("a run in which no kernel follows another does not tell how closely they would") {
  const Predicted run(with(kText, {{"sync", "op"}}));
  const analyzer::Predictor predictor(run.trace, run.analysis);
  const auto proposal = analyzer::Proposer(predictor).of(*analyzer::find_fix("remove-syncs"));
  const analyzer::Prediction prediction = predictor.predict(proposal.scenario);
  const double done = mean_step_ns(run.run, {{"sync", "never"}});
  const double recorded = static_cast<double>(predictor.baseline().recorded.ns);
  CHECK(recorded - prediction.gain_ns.high < done);
  CHECK(recorded - prediction.gain_ns.low > done);
  // 0.75 or 2 µs instead of 1.3 between two of over 100 kernels.
  CHECK(prediction.gain_ns.high - prediction.gain_ns.low > 100 * 1250);
}

TEST_CASE("what sums a bias' gradient becomes part of a product, whatever made the gradient") {
  // Dropout does, with which it could be one kernel as well.
  const Switches run = with(kText, {{"gpu", "rtx-4090"},
                                    {"world", "282664208"},
                                    {"features", "64"},
                                    {"sequence", "512"},
                                    {"precision", "tf32"},
                                    {"fused_bias_act", "off"}});
  const double now = mean_step_ns(run);
  const double done = mean_step_ns(run, {{"fused_bias_act", "on"}});
  CHECK(done < 0.9 * now);
  CHECK(Predicted(run).step_ns("fuse-chains") == doctest::Approx(done).epsilon(0.055));
}

TEST_CASE(
    "a bias becomes part of its product where only another layout of the result is made next") {
  const Switches run = with(kText, {{"sequence", "512"},
                                    {"precision", "bf16"},
                                    {"batch", "16"},
                                    {"fused_attention", "off"},
                                    {"fused_bias_act", "off"}});
  const double done = mean_step_ns(run, {{"fused_bias_act", "on"}});
  CHECK(Predicted(run).step_ns("fuse-chains") == doctest::Approx(done).epsilon(0.02));
}

TEST_CASE("only time of the host that may come once a sample makes a larger batch doubtful") {
  const auto certainty = [](const Switches& run) {
    const Predicted before(run);
    const analyzer::Predictor predictor(before.trace, before.analysis);
    for (const analyzer::ReplayedFix& one : analyzer::replay_fixes(predictor))
      if (one.fix->id == "larger-batch") return one.proposal.certainty;
    return 0.0;
  };
  // Pauses of 5 ms on a step of less than one: nearly all that a larger batch gains.
  const auto pauses = [](const char* every) {
    return with(kText, {{"pause_every", every}, {"pause_ms", "5"}});
  };
  CHECK(certainty(pauses("1")) < 0.7);
  CHECK(certainty(pauses("5")) == doctest::Approx(1).epsilon(0.02));
  // One rank of four is late by as much in each step; the others have as many samples.
  CHECK(certainty(with(kText, {{"ranks", "4"}, {"slow_rank", "1"}, {"slow_rank_ms", "5"}})) ==
        doctest::Approx(1).epsilon(0.02));
}

TEST_CASE("a small first bucket takes a part of a large message along") {
  const Switches large = with(kText, {{"features", "512"},
                                      {"heads", "8"},
                                      {"ranks", "2"},
                                      {"ranks_per_node", "1"},
                                      {"bucket_mb", "100"}});
  const Predicted run(large);
  CHECK(run.applies("smaller-buckets"));
  CHECK(run.step_ns("larger-buckets") ==
        doctest::Approx(mean_step_ns(large, {{"bucket_mb", "25"}, {"first_bucket_mb", "25"}}))
            .epsilon(0.02));
  // Of 11 MiB, which can be cut as well, one of 25 MiB holds both.
  const Predicted both(with(kText, {{"ranks", "2"}, {"ranks_per_node", "1"}}));
  CHECK(both.applies("smaller-buckets"));
  CHECK(both.applies("larger-buckets"));
}

TEST_CASE(
    "unscaling gradients takes no longer than the shortest pass of an update over its tensors") {
  const Switches run = with(kText, {{"gpu", "t4"},
                                    {"features", "1024"},
                                    {"heads", "16"},
                                    {"layers", "2"},
                                    {"sequence", "16"},
                                    {"batch", "1"},
                                    {"optimizer", "lamb"},
                                    {"precision", "fp32"}});
  const double done = mean_step_ns(run, {{"precision", "amp-o2"}});
  CHECK(Predicted(run).step_ns("half-precision") == doctest::Approx(done).epsilon(0.06));
}

TEST_CASE(
    "of small kernels that wait for memory a larger batch makes only the bytes' time longer") {
  const Switches run =
      with(kText,
           {{"gpu", "rtx-4090"}, {"world", "89261569"}, {"batch", "32"}, {"precision", "amp-o2"}});
  const double done = mean_step_ns(run, {{"batch", "64"}}) / 2;
  CHECK(Predicted(run).step_ns("larger-batch") == doctest::Approx(done).epsilon(0.03));
}

TEST_CASE("a step of twice the samples hides twice as much of each restart of the workers") {
  const Switches run = with(kImages, {{"gpu", "l4"},
                                      {"depth", "56"},
                                      {"batch", "64"},
                                      {"data", "generated"},
                                      {"samples", "512"},
                                      {"workers", "8"},
                                      {"prefetch", "8"},
                                      {"worker_reuse", "off"},
                                      {"worker_start_ms", "197"}});
  const double done = mean_step_ns(run, {{"batch", "128"}}) / 2;
  CHECK(Predicted(run).step_ns("larger-batch") == doctest::Approx(done).epsilon(0.03));
}

TEST_CASE("what runs once per sample is launched for each sample of a larger batch") {
  const Switches run = with(kImages, {{"model", "ssd"},
                                      {"depth", "8"},
                                      {"batch", "64"},
                                      {"assign", "per-sample"},
                                      {"image_size", "32"},
                                      {"decode", "offline"},
                                      {"coords", "host-round-trip"},
                                      {"loss_read", "step"},
                                      {"optimizer", "lamb"},
                                      {"precision", "bf16"},
                                      {"gpu", "a100-80gb"},
                                      {"data", "generated"},
                                      {"launch_us", "10"}});
  const double done = mean_step_ns(run, {{"batch", "128"}}) / 2;
  CHECK(Predicted(run).step_ns("larger-batch") == doctest::Approx(done).epsilon(0.02));
}

TEST_CASE("what runs once per sample takes the device as long for each sample of a larger batch") {
  const Switches run = with(kImages, {{"model", "ssd"},
                                      {"depth", "8"},
                                      {"batch", "32"},
                                      {"assign", "per-sample"},
                                      {"image_size", "64"},
                                      {"data", "generated-pictures"},
                                      {"samples", "320"},
                                      {"workers", "64"},
                                      {"prefetch", "64"},
                                      {"host_cores", "128"}});
  const double done = mean_step_ns(run, {{"batch", "64"}}) / 2;
  CHECK(Predicted(run).step_ns("larger-batch") == doctest::Approx(done).epsilon(0.03));
}

TEST_CASE("more workers than those that start anew with each epoch stay alive, as is advised") {
  const Switches run = with(kImages, {{"depth", "56"},
                                      {"width", "32"},
                                      {"gpu", "t4"},
                                      {"data", "generated"},
                                      {"source", "files"},
                                      {"samples", "512"},
                                      {"workers", "2"},
                                      {"worker_reuse", "off"},
                                      {"worker_start_ms", "60"},
                                      {"storage_latency_ms", "1"}});
  const Predicted now(run);
  const double kept =
      mean_step_ns(run, {{"workers", "3"}, {"prefetch", "4"}, {"worker_reuse", "on"}});
  CHECK(now.step_ns("more-workers") == doctest::Approx(kept).epsilon(0.02));
  // Three that start anew with each epoch gain less.
  CHECK(mean_step_ns(run, {{"workers", "3"}, {"prefetch", "4"}}) > 1.05 * kept);
}

TEST_CASE(
    "a round trip after which the host is late with the next batch is named, short as it is") {
  const Switches run = {
      {"device", "sim"},        {"eval", "off"},        {"gpu", "a100-80gb"},
      {"jitter", "0.0287"},     {"world", "488302561"}, {"model", "ssd"},
      {"depth", "14"},          {"width", "32"},        {"batch", "4"},
      {"augment", "off"},       {"workers", "0"},       {"coords", "host-round-trip"},
      {"link_mb_per_s", "159"}, {"shuffle", "off"},     {"optimizer", "sgd"},
      {"samples", "500"},       {"data", "generated"}};
  Predicted before(run);
  CHECK(before.step_ns("stay-on-device") ==
        doctest::Approx(mean_step_ns(run, {{"coords", "device"}})).epsilon(0.03));
  const auto trip = [&] {
    return *std::ranges::find(before.analysis.findings, "host-round-trip",
                              &analyzer::Finding::rule);
  };
  CHECK(trip().status == analyzer::Status::kFine);
  analyzer::predict_findings(before.trace, before.analysis);
  CHECK(trip().status == analyzer::Status::kFound);
  CHECK(trip().share_of_step > 0.05);
}

TEST_CASE("gradients that are accumulated are exchanged once, with what packs them") {
  Switches each = {{"device", "sim"},   {"model", "transformer"}, {"features", "512"},
                   {"heads", "8"},      {"layers", "4"},          {"sequence", "256"},
                   {"batch", "8"},      {"precision", "bf16"},    {"eval", "off"},
                   {"ranks", "4"},      {"ranks_per_node", "1"},  {"network_gb_per_s", "10"},
                   {"accumulate", "4"}, {"sum_each_batch", "on"}};
  check(each, "exchange-once", {{"sum_each_batch", "off"}}, true, 0.03);
  check(with(each, {{"overlap", "off"}, {"compress", "fp16"}}), "exchange-once",
        {{"sum_each_batch", "off"}}, true, 0.03);
  for (const Switches& exchange : {Switches{{"topology", "parameter-server"}},
                                   {{"topology", "hierarchical"}, {"ranks_per_node", "2"}},
                                   {{"compress", "int8"}},
                                   {{"compress", "dgc"}, {"dgc_warm_up", "0"}}})
    check(with(each, exchange), "exchange-once", {{"sum_each_batch", "off"}}, true, 0.03);
  CHECK_FALSE(Predicted(with(each, {{"sum_each_batch", "off"}})).applies("exchange-once"));
}

TEST_CASE("where nothing is computed beside the first bucket, all are as large") {
  const Switches run = with(kText, {{"ranks", "4"},
                                    {"ranks_per_node", "1"},
                                    {"overlap", "off"},
                                    {"bucket_mb", "2"},
                                    {"network_gb_per_s", "10"},
                                    {"network_us", "100"}});
  check(run, "larger-buckets", {{"bucket_mb", "25"}, {"first_bucket_mb", "25"}}, true, 0.05);
}

TEST_CASE("who writes a tensor rounds it on the way") {
  check({{"device", "sim"},
         {"eval", "off"},
         {"gpu", "a10"},
         {"world", "392025174"},
         {"model", "gnmt"},
         {"data", "generated"},
         {"features", "512"},
         {"layers", "2"},
         {"sequence", "16"},
         {"batch", "8"},
         {"balance", "random"},
         {"graph_compiler", "off"},
         {"precision", "amp-o1"},
         {"launch_us", "17.7"},
         {"allocator", "raw"}},
        "fuse-chains", {{"graph_compiler", "on"}}, true, 0.05);
}

TEST_CASE("padding of kernels that the device takes at once costs nothing") {
  const Switches run = {{"device", "sim"}, {"eval", "off"},       {"gpu", "b200"},
                        {"model", "gnmt"}, {"layers", "1"},       {"sequence", "16"},
                        {"batch", "16"},   {"balance", "random"}, {"precision", "tf32"}};
  const Predicted before(run);
  REQUIRE(before.applies("less-padding"));
  CHECK(before.step_ns("less-padding") ==
        doctest::Approx(mean_step_ns(run, {{"balance", "sorted"}})).epsilon(0.02));
}

}  // namespace headway::trainer
