// SPDX-License-Identifier: MIT
// What if the slow rank did as its peers, or if there were more ranks? The truth is the same job, simulated so.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/analysis.h"
#include "analyzer/whatif/more_ranks.h"
#include "analyzer/whatif/whatif.h"
#include "reference_trainer/simulated_trace/write_trace.h"
#include "tests/reference_trainer/simulated_trace/simulate.h"
#include "tests/support/temporary_folder.h"
#include "trace/load/load.h"

namespace headway::analyzer {
namespace {

using test::simulate;
using test::Switches;

constexpr std::int64_t kSteps = 30;

Switches job(const Switches& more) {
  Switches all{{"model", "resnet"}, {"eval", "off"},     {"width", "64"},
               {"batch", "64"},     {"workers", "8"},    {"ranks_per_node", "4"},
               {"bucket_mb", "2"},  {"samples", "40000"}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

double step_ns(const Switches& switches) {
  return simulate(switches, kSteps).run.result.mean_step_s() * 1e9;
}

/// A recorded job, ready for questions.
struct Recorded {
  explicit Recorded(const Switches& switches) {
    trainer::sim::write_trace(simulate(switches, kSteps).run, folder / "run.sqlite");
    trace = trace::load(folder / "run.sqlite");
    analysis = analyze(trace);
    predictor.emplace(trace, analysis);
    REQUIRE(predictor->missing().empty());
  }
  test::TemporaryFolder folder;
  trace::Trace trace;
  Analysis analysis;
  std::optional<Predictor> predictor;
};

}  // namespace

TEST_CASE("a slow rank that does as its peers leaves the step of a job without it") {
  const Switches slow = job({{"ranks", "4"}, {"slow_rank", "2"}, {"slow_rank_ms", "30"}});
  const Recorded recorded(slow);
  const Proposal proposal = find_fix("even-ranks")->propose(*recorded.predictor);
  REQUIRE(proposal.applies);
  CHECK(proposal.text.find("rank 2 ") != std::string::npos);
  CHECK(static_cast<double>(recorded.predictor->predict(proposal.scenario).step.ns) ==
        doctest::Approx(step_ns(job({{"ranks", "4"}}))).epsilon(0.005));
  const Recorded even(job({{"ranks", "4"}}));
  CHECK(!find_fix("even-ranks")->propose(*even.predictor).applies);
}

TEST_CASE("the step with more ranks follows from the collectives of few") {
  const Switches exposed{{"overlap", "off"}, {"network_gb_per_s", "1"}};
  auto with = [&](const char* ranks) {
    Switches all = job(exposed);
    all.emplace_back("ranks", ranks);
    return all;
  };
  const Recorded recorded(with("8"));
  const Predictor& predictor = *recorded.predictor;
  for (const char* ranks : {"16", "64"}) {
    CAPTURE(ranks);
    const MoreRanks more = with_ranks(predictor, std::stoi(ranks));
    REQUIRE(more.possible);
    CHECK(more.text.find("extrapolated") != std::string::npos);
    const double truth = step_ns(with(ranks));
    CHECK(truth > 1.05 * static_cast<double>(predictor.baseline().recorded.ns));
    CHECK(static_cast<double>(predictor.predict(more.scenario).step.ns) ==
          doctest::Approx(truth).epsilon(0.005));
  }
  const MoreRanks same = with_ranks(predictor, 8);
  CHECK(predictor.predict(same.scenario).step.ns ==
        doctest::Approx(static_cast<double>(predictor.baseline().recorded.ns)).epsilon(0.001));
  const Recorded alone(job({}));
  CHECK(!with_ranks(*alone.predictor, 8).possible);
}

TEST_CASE("activations of shared layers get no advice for gradients") {
  for (const char* by_tokens : {"off", "on"}) {
    CAPTURE(by_tokens);
    const Switches run{{"model", "transformer"},
                       {"data", "generated"},
                       {"eval", "off"},
                       {"layers", "6"},
                       {"features", "1024"},
                       {"heads", "16"},
                       {"sequence", "512"},
                       {"batch", "8"},
                       {"ranks", "8"},
                       {"ranks_per_node", "4"},
                       {"precision", "bf16"},
                       {"tensor_parallel", "on"},
                       {"sequence_parallel", by_tokens}};
    const Recorded recorded(run);
    for (const char* fix : {"compress-gradients", "larger-buckets", "hierarchical-allreduce",
                            "flat-allreduce", "all-reduce-instead-of-parameter-server"}) {
      CAPTURE(fix);
      const Proposal proposal = find_fix(fix)->propose(*recorded.predictor);
      if (proposal.applies)  // the small gradients of norms, which are summed up
        CHECK(static_cast<double>(recorded.predictor->predict(proposal.scenario).step.ns) >
              0.97 * step_ns(run));
    }
    const Proposal overlap = find_fix("overlap-communication")->propose(*recorded.predictor);
    if (overlap.applies)
      CHECK(static_cast<double>(recorded.predictor->predict(overlap.scenario).step.ns) >
            0.97 * step_ns(run));
    const auto exposed = std::ranges::find(recorded.analysis.findings,
                                           std::string_view("comm-exposed"), &Finding::rule);
    REQUIRE(exposed != recorded.analysis.findings.end());
    CHECK(exposed->status == Status::kFound);
    CHECK(exposed->sub_cause == "activations");
    for (const Advice& advice : exposed->advice)
      CHECK(advice.knob.find("compress") == std::string::npos);
    // Twice the tokens are twice the activations.
    Switches twice = run;
    twice.emplace_back("batch", "16");
    const Proposal larger = find_fix("larger-batch")->propose(*recorded.predictor);
    REQUIRE(larger.applies);
    CHECK(static_cast<double>(recorded.predictor->predict(larger.scenario).step.ns) ==
          doctest::Approx(step_ns(twice) / 2).epsilon(0.05));
  }
}

TEST_CASE("activations of shared layers travel in half the bytes in 16 bits") {
  Switches run{{"model", "transformer"}, {"data", "generated"},    {"eval", "off"},
               {"layers", "4"},          {"features", "1024"},     {"heads", "16"},
               {"sequence", "512"},      {"batch", "8"},           {"ranks", "4"},
               {"precision", "tf32"},    {"tensor_parallel", "on"}};
  const Recorded recorded(run);
  const Proposal half = find_fix("half-precision")->propose(*recorded.predictor);
  REQUIRE(half.applies);
  run.emplace_back("precision", "bf16");
  CHECK(static_cast<double>(recorded.predictor->predict(half.scenario).step.ns) ==
        doctest::Approx(step_ns(run)).epsilon(0.1));
}

}  // namespace headway::analyzer
