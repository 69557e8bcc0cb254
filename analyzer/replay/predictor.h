// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/graph/assumptions.h"
#include "analyzer/replay/cold_caches.h"
#include "analyzer/replay/recording_cost.h"
#include "analyzer/replay/run_scatter.h"
#include "analyzer/replay/scenario.h"
#include "analyzer/replay/shared_processors.h"
#include "analyzer/replay/steps.h"
#include "analyzer/replay/unexplained.h"
#include "common/block_bootstrap.h"
#include "common/statistics.h"

namespace headway::analyzer {

/// What a length on the critical path rests on.
enum class Basis : std::uint8_t {
  kMeasured,    ///< recorded durations
  kCalibrated,  ///< delays of the machine, as distributions of this recording
  kModelled,    ///< formulas of a fix
  kCount_,
};

/// The recorded steps and their replay without any change.
struct Baseline {
  std::int64_t steps = 0;
  DurationNs recorded;  ///< mean steady step, less what recording cost it where that is known
  DurationNs median;    ///< likewise
  RecordingCost cost;   ///< what recording cost it
  DurationNs replayed;  ///< the same steps replayed
  /// |replayed - recorded| / recorded: what no recorded cause explains. Predictions are differences
  /// of replays, so it bounds what they may miss.
  double residual = 0;
  std::vector<Unexplained> late;  ///< per step: where that time is on the path, most first
  ClassTimes path;  ///< per step: the replayed critical path by class; sums to `replayed`, nearly
};

/// How long the steps would be.
struct Prediction {
  DurationNs step;  ///< mean
  /// Of what each recorded step becomes: less its difference of the two replays. What seldom happens to a
  /// step (a thread that lost its processor) counts in means and not here.
  DurationNs median;
  DurationNs gain;  ///< per step, recorded less predicted; negative: slower
  Bounds gain_ns;   ///< 95 % interval of the gain
  /// (low + 2 × gain + high) / 4, of an interval without the doubt what recording cost.
  double expected_ns = 0;
  /// How far the gain stands out from how the steps scatter, if rare long ones come in each run alike; likewise of the
  /// typical step. At most 0: it may be none. Which fix gains more it does not tell. Of processors only.
  double beyond_scatter_ns = 0;
  /// Shares of the predicted critical path by Basis.
  std::array<double, static_cast<std::size_t>(Basis::kCount_)> basis{};
};

/// Predicts how a recorded run would have gone under other conditions, by replaying its dependency
/// graph. Thread-safe after construction. Keeps references to trace and analysis.
class Predictor {
 public:
  /// `machine`: what is known of it besides the recording.
  /// `run`: of a recording that is a stretch of a longer one, all steady steps of that: they tell how steps scatter.
  Predictor(const trace::Trace& trace, const Analysis& analysis, MachineFacts machine = {},
            RunLengths run = {});

  /// Why nothing can be predicted: "no steps were found, …"; empty when it can.
  const std::string& missing() const { return marked_.missing; }
  const Baseline& baseline() const { return baseline_; }
  /// By how much of the step two runs of the same program may differ, as far as its steps tell: it is in each interval.
  double noise() const;
  const trace::Trace& trace() const { return trace_; }
  const Analysis& analysis() const { return analysis_; }
  const Program& program() const { return program_; }
  const std::vector<Part>& parts() const { return parts_.all(); }
  const MarkedSteps& steps() const { return marked_; }
  const KernelNames& kernels() const { return kernels_; }
  const MachineFacts& machine() const { return machine_; }
  const SharedProcessors& processors() const { return processors_; }
  /// The recording whose reads tell of the storage: all of it where `trace` is a stretch; and from when on.
  const trace::Trace& whole() const { return *whole_; }
  TimeNs warm_from() const { return warm_from_; }
  /// Delays in use that are not from the recording.
  std::vector<Assumption> assumptions() const { return assumptions_of(graph_); }
  Interval recorded(const MarkedStep& step) const;
  /// The length of a step (index into `steps().steps`) in the replay without any change.
  DurationNs replayed(std::size_t step) const;

  /// Of the step: what is reported of a run and what its own clock says differ by so much in one run of ten
  /// (docs/accuracy.md), so no change is known more exactly. Every interval has it on both sides.
  static constexpr double kResolution = 0.005;

  /// Of the step, where processors compute: without a program's waits the same kernels took 4 % less where caches stayed
  /// warm, 10 % more beside a thread that spins, and one program measured twice differs by 7 % (docs/accuracy.md). Every
  /// interval of such a run has it on both sides.
  static constexpr double kDoubtOfThreads = 0.05;

  /// `model_error`: how far formulas of the scenario may be off, as a share of what they change; where it also takes tasks or
  /// waits away, as a share of the gain. `otherwise`: what it may be instead; the interval has their gains, too.
  Prediction predict(const Scenario& scenario, double model_error = 0,
                     std::span<const Scenario> otherwise = {}) const;
  /// Several, on all cores; without what their paths rest on.
  std::vector<Prediction> predict(std::span<const Scenario> scenarios) const;

  /// Per part: the time per step that it has on the critical path of the recorded run; what halving
  /// it gains is at most half of that.
  std::vector<DurationNs> path_of_parts() const;

 private:
  /// A run that scenarios are compared with.
  struct Base {
    std::vector<double> lengths;  ///< of its steady steps, replayed, ns
    double scale = 1;             ///< gains are multiplied by it: to the recorded step
  };
  /// `basis`: also what its path rests on.
  Prediction predict_step(Replayer& replayer, const Scenario& scenario, double model_error,
                          bool basis = false, double cold = ColdCaches::kLikely) const;
  Prediction predict_beside(const Base& base, Replayer& replayer, const Scenario& scenario,
                            double model_error, bool basis, double cold) const;
  /// The same change in a run whose host was slowed by the recording as much as is likely at most.
  Prediction predict_unrecorded(Replayer& replayer, const Scenario& scenario,
                                double model_error) const;
  /// Of the path that was replayed last.
  std::array<double, static_cast<std::size_t>(Basis::kCount_)> basis_of(
      const Replayer& replayer, const Scenario& scenario) const;
  /// The same change on devices whose kernels follow each other more or less closely than is assumed; none where the recording
  /// shows how closely they do, or it was calibrated.
  std::vector<Scenario> with_other_gaps(const Scenario& scenario) const;
  /// The same change with formulas that change each duration by `by` as much.
  Scenario with_other_formulas(const Scenario& scenario, double by) const;
  /// `less`: how much less the gain may be for the steps that it is in.
  double beyond_scatter(std::span<const double> gains, double less, bool on_schedule) const;
  /// Where it is known what a step takes without recording: turns the program into that run, and the recorded steps into its
  /// steps.
  void take_away_recording(RunLengths& run);
  std::vector<double> step_lengths(const std::vector<std::int64_t>& times, const Scenario& scenario,
                                   double cold = 0) const;

  const trace::Trace& trace_;
  const Analysis& analysis_;
  const trace::Trace* whole_;
  TimeNs warm_from_;
  MachineFacts machine_;
  KernelNames kernels_;
  RangeNames names_;
  GapFacts facts_;
  DependencyGraph graph_;
  Parts parts_;
  Program program_;
  SharedProcessors processors_;
  MarkedSteps marked_;
  ColdCaches caches_;
  Baseline baseline_;
  bool on_threads_ = false;        ///< processors compute
  std::vector<double> recorded_;   ///< lengths of the steady steps, ns
  Base replayed_;                  ///< the same run
  Scenario lighter_;               ///< the host as it may be without recording; empty: it is known
  Base lightly_recorded_;          ///< the run with that
  std::vector<double> scheduled_;  ///< what each of them holds on schedule
  BlockPlan blocks_;               ///< of the whole run
  double run_to_run_ = 0;          ///< ns; half of the 95 % interval of the mean recorded step
  double usual_run_to_run_ = 0;    ///< likewise, of steps cut at the limit of outliers
  double median_run_to_run_ = 0;   ///< likewise, of the median step
};

}  // namespace headway::analyzer
