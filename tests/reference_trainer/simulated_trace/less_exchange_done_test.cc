// SPDX-License-Identifier: MIT
// Gradients in few bits and steps without an exchange: predicted from a simulated run, and done.
#include <doctest/doctest.h>

#include <algorithm>

#include "analyzer/whatif/predict_findings.h"
#include "tests/reference_trainer/simulated_trace/predicted.h"

namespace headway::trainer {
using test::check_done;
using test::kImages;
using test::kText;
using test::mean_step_ns;
using test::Predicted;
using test::simulate;
using test::Switches;
using test::with;

namespace {

const Switches kSlowNetwork = with(kText, {{"features", "512"},
                                           {"heads", "8"},
                                           {"ranks", "8"},
                                           {"ranks_per_node", "2"},
                                           {"network_gb_per_s", "1"}});

std::size_t sums_in(const Predicted& run) {
  return static_cast<std::size_t>(std::ranges::count_if(
      run.trace.collectives,
      [&](const trace::Collective& one) { return run.trace.strings[one.kind] == "allreduce"; }));
}

}  // namespace

TEST_CASE("each way to compress gradients gains what it is predicted to") {
  check_done(with(kSlowNetwork, {{"ranks", "4"}}), "compress-to-8-bits", {{"compress", "int8"}},
             0.1);
  check_done(kSlowNetwork, "send-largest-gradients", {{"compress", "dgc"}, {"dgc_warm_up", "0"}},
             0.1);
  // The op graph shows one result of an op: the table of positions counts as sent in full.
  check_done(kSlowNetwork, "low-rank-gradients", {{"compress", "powersgd"}}, 0.2);
  check_done(kSlowNetwork, "gradients-as-signs", {{"compress", "onebit"}}, 0.1);
}

TEST_CASE("one sum in 16 bits takes the place of rounds and gathers whose fixed costs add up") {
  const Switches rounds = with(kText, {{"ranks", "2"},
                                       {"ranks_per_node", "2"},
                                       {"sequence", "16"},
                                       {"features", "512"},
                                       {"heads", "8"},
                                       {"layers", "8"},
                                       {"first_bucket_mb", "0.25"},
                                       {"bucket_mb", "1"},
                                       {"compress", "powersgd"}});
  check_done(rounds, "sum-in-16-bits", {{"compress", "fp16"}}, 0.05);
  // A gather passes a ring once. An all-reduce of 16 ranks has a tree, whose hops are as many.
  const Switches gathers = {{"device", "sim"},
                            {"model", "gnmt"},
                            {"features", "256"},
                            {"layers", "2"},
                            {"sequence", "8"},
                            {"batch", "1"},
                            {"eval", "off"},
                            {"ranks", "16"},
                            {"ranks_per_node", "2"},
                            {"network_us", "15"},
                            {"first_bucket_mb", "0"},
                            {"bucket_mb", "0"},
                            {"network_gb_per_s", "31"},
                            {"compress", "int8"}};
  check_done(gathers, "sum-in-16-bits", {{"compress", "fp16"}}, 0.1);
}

TEST_CASE("gathers of 8 bits gain less with more ranks, signs do not") {
  const Switches one_a_node =
      with(kText, {{"features", "512"}, {"heads", "8"}, {"ranks_per_node", "1"}});
  for (const char* ranks : {"4", "16"}) {
    CAPTURE(ranks);
    const Switches run = with(one_a_node, {{"ranks", ranks}, {"network_gb_per_s", "1"}});
    const Predicted before(run);
    for (const auto& [fix, way] :
         {std::pair("compress-to-8-bits", "int8"), std::pair("gradients-as-signs", "onebit")}) {
      CAPTURE(way);
      CHECK(before.step_ns(fix) ==
            doctest::Approx(mean_step_ns(run, {{"compress", way}})).epsilon(0.1));
    }
  }
  // Sixteen ranks gather sixteen messages: more bytes than an all-reduce in 32 bits moves.
  auto gain = [&](const char* ranks, const char* way) {
    const Switches run = with(one_a_node, {{"ranks", ranks}, {"network_gb_per_s", "1"}});
    return mean_step_ns(run) / mean_step_ns(run, {{"compress", way}});
  };
  CHECK(gain("4", "int8") > 1.5);
  CHECK(gain("16", "int8") < 1);
  CHECK(gain("16", "onebit") > 5);
}

TEST_CASE("several steps share an exchange, and nothing hides it") {
  for (const char* steps : {"2", "4", "8"}) {
    CAPTURE(steps);
    const std::string fix = std::string("average-every-") + steps + "-steps";
    for (const Switches& run :
         {kSlowNetwork, with(kSlowNetwork, {{"slow_rank", "3"}, {"slow_rank_ms", "20"}})}) {
      const Predicted before(run, 64);
      const double done = mean_step_ns(run, {{"local_steps", steps}}, 64);
      CHECK(done < 0.97 * mean_step_ns(run, {}, 64));
      CHECK(before.step_ns(fix) == doctest::Approx(done).epsilon(0.05));
    }
  }
}

TEST_CASE("ranks that step alone exchange once in several steps, and after the last one") {
  const Switches ranks = with(kImages, {{"ranks", "2"}, {"bucket_mb", "0.02"}});
  const std::size_t each = sums_in(Predicted(ranks, 20));
  CHECK(each % 20 == 0);
  CHECK(each / 20 >= 2);  // buckets
  CHECK(sums_in(Predicted(with(ranks, {{"local_steps", "4"}}), 20)) == each / 20 * 5);
  CHECK(sums_in(Predicted(with(ranks, {{"local_steps", "6"}}), 20)) == each / 20 * 4);
  CHECK(sums_in(Predicted(with(ranks, {{"local_steps", "100"}}), 20)) == each / 20);
}

TEST_CASE("no report proposes what changes the training so much") {
  const Predicted run(kSlowNetwork);
  for (const analyzer::Fix* fix : analyzer::fixes_on_request()) {
    CAPTURE(fix->id);
    CHECK(run.applies(fix->id));
    CHECK(std::ranges::find(analyzer::all_fixes(), fix) == analyzer::all_fixes().end());
    CHECK(analyzer::find_fix(fix->id) == fix);
    for (const analyzer::Finding& finding : run.analysis.findings)
      for (const analyzer::PredictedGain& gain : finding.fixes) CHECK(gain.fix != fix->id);
  }
}

TEST_CASE("what is already compressed, or summed by nodes, is not compressed further") {
  for (const Switches& change : std::initializer_list<Switches>{{{"compress", "fp16"}},
                                                                {{"compress", "int8"}},
                                                                {{"compress", "powersgd"}},
                                                                {{"compress", "onebit"}},
                                                                {{"topology", "hierarchical"}}}) {
    CAPTURE(change.front().second);
    const Predicted run(with(kSlowNetwork, change), 20);
    for (const char* fix : {"compress-to-8-bits", "send-largest-gradients", "low-rank-gradients",
                            "gradients-as-signs"})
      CHECK_FALSE(run.applies(fix));
  }
}

}  // namespace headway::trainer
