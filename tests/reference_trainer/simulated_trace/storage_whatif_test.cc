// SPDX-License-Identifier: MIT
// More workers and shards on storage of any kind: predicted from one simulated run, done in another.
#include <doctest/doctest.h>

#include "analyzer/analysis.h"
#include "analyzer/replay/predictor.h"
#include "analyzer/whatif/fix.h"
#include "reference_trainer/simulated_trace/write_trace.h"
#include "tests/reference_trainer/simulated_trace/simulate.h"
#include "tests/support/temporary_folder.h"
#include "trace/load/load.h"

namespace headway::trainer {
namespace {

using test::simulate;
using test::Simulated;
using test::Switches;

/// A run whose batches take longer to read than a step takes.
Switches run_on(Switches storage) {
  Switches run = {{"device", "sim"},  {"model", "resnet"}, {"depth", "8"},
                  {"width", "8"},     {"batch", "64"},     {"source", "files"},
                  {"prefetch", "16"}, {"eval", "off"},     {"samples", "4096"}};
  run.insert(run.end(), storage.begin(), storage.end());
  return run;
}

double mean_step_ns(Switches run, const Switches& change = {}) {
  run.insert(run.end(), change.begin(), change.end());
  return simulate(run, 60).run.result.mean_step_s() * 1e9;
}

struct Predicted {
  explicit Predicted(const Switches& switches) : run(switches) {
    sim::write_trace(simulate(run, 60).run, folder / "run.sqlite");
    trace = trace::load(folder / "run.sqlite");
    analysis = analyzer::analyze(trace);
  }
  /// The step with the fix, in ns; the recorded one where it does not apply.
  double step_ns(std::string_view fix) const {
    const analyzer::Predictor predictor(trace, analysis);
    const analyzer::Proposal proposal = analyzer::find_fix(fix)->propose(predictor);
    if (!proposal.applies) return static_cast<double>(predictor.baseline().recorded.ns);
    return static_cast<double>(predictor.predict(proposal.scenario).step.ns);
  }
  bool applies(std::string_view fix) const {
    const analyzer::Predictor predictor(trace, analysis);
    return analyzer::find_fix(fix)->propose(predictor).applies;
  }

  Switches run;
  test::TemporaryFolder folder;
  trace::Trace trace;
  analyzer::Analysis analysis;
};

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

}  // namespace headway::trainer
