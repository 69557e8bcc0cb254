// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <string_view>

#include "analyzer/analysis.h"
#include "analyzer/replay/predictor.h"
#include "analyzer/whatif/fix.h"
#include "reference_trainer/simulated_trace/write_trace.h"
#include "tests/reference_trainer/simulated_trace/simulate.h"
#include "tests/support/temporary_folder.h"
#include "trace/load/load.h"

namespace headway::test {

inline Switches with(Switches run, const Switches& more) {
  run.insert(run.end(), more.begin(), more.end());
  return run;
}

/// Small programs to change: a residual network, a transformer.
inline const Switches kImages = {{"device", "sim"}, {"model", "resnet"}, {"depth", "8"},
                                 {"width", "8"},    {"batch", "32"},     {"eval", "off"}};
inline const Switches kText = {{"device", "sim"}, {"model", "transformer"}, {"features", "256"},
                               {"heads", "4"},    {"layers", "4"},          {"sequence", "128"},
                               {"batch", "8"},    {"eval", "off"}};

/// Of 60 simulated steps.
inline double mean_step_ns(const Switches& run, const Switches& change = {}, int steps = 60) {
  return simulate(with(run, change), steps).run.result.mean_step_s() * 1e9;
}

/// A simulated run and what is predicted from its trace.
struct Predicted {
  explicit Predicted(const Switches& switches, int steps = 60) : run(switches) {
    trainer::sim::write_trace(simulate(run, steps).run, folder / "run.sqlite");
    trace = trace::load(folder / "run.sqlite");
    analysis = analyzer::analyze(trace);
  }
  /// The step with the fix, in ns; the recorded one where it does not apply.
  double step_ns(std::string_view fix) const {
    const analyzer::Predictor predictor(trace, analysis);
    const analyzer::Proposal proposal = analyzer::Proposer(predictor).of(*analyzer::find_fix(fix));
    if (!proposal.applies) return static_cast<double>(predictor.baseline().recorded.ns);
    return static_cast<double>(predictor.predict(proposal.scenario).step.ns);
  }
  bool applies(std::string_view fix) const {
    const analyzer::Predictor predictor(trace, analysis);
    return analyzer::find_fix(fix)->propose(predictor).applies;
  }

  Switches run;
  TemporaryFolder folder;
  trace::Trace trace;
  analyzer::Analysis analysis;
};

/// The fix is predicted from the run within a share of what the run takes with it, and gains more than 3 %.
inline void check_done(const Switches& run, std::string_view fix, const Switches& change,
                       double within = 0.03) {
  const Predicted before(run);
  const double now = mean_step_ns(run);
  const double done = mean_step_ns(run, change);
  CAPTURE(now);
  CHECK(done < 0.97 * now);
  CHECK(before.step_ns(fix) == doctest::Approx(done).epsilon(within));
}

}  // namespace headway::test
