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
  std::vector<Unexplained> late;  ///< per step: where that time is on the path, largest first
  ClassTimes path;  ///< per step: the replayed critical path by class; sums to `replayed`, nearly
};

/// How long the steps would be.
struct Prediction {
  DurationNs step;  ///< mean
  /// Median of the predicted steps, each the recorded step less its gain between the two replays. What seldom happens
  /// to a step (a thread that lost its processor) counts in means but not here.
  DurationNs median;
  DurationNs gain;  ///< per step, recorded less predicted; negative: slower
  Bounds gain_ns;   ///< 95 % interval of the gain
  /// (low + 2 × gain + high) / 4, of an interval without the doubt about the cost of recording.
  double expected_ns = 0;
  /// By how much the gain exceeds the scatter of steps, if each run has its rare long steps: that of the mean or of the
  /// typical step, the larger. At most 0: there may be no gain. Does not tell which fix gains more. Only on processors.
  double beyond_scatter_ns = 0;
  /// Shares of the predicted critical path by Basis.
  std::array<double, static_cast<std::size_t>(Basis::kCount_)> basis{};
};

/// Predicts how a recorded run would have gone under other conditions, by replaying its dependency
/// graph. Thread-safe after construction. Keeps references to trace and analysis.
class Predictor {
 public:
  /// `machine`: what is known of the machine beyond the recording. `run`: where the trace is a stretch of a longer recording,
  /// all steady steps of that recording; they show how steps scatter.
  Predictor(const trace::Trace& trace, const Analysis& analysis, MachineFacts machine = {},
            RunLengths run = {});

  /// Why nothing can be predicted: "no steps were found, …"; empty when it can.
  const std::string& missing() const { return marked_.missing; }
  const Baseline& baseline() const { return baseline_; }
  /// Share of the step by which two runs of the program may differ, estimated from its steps. Every interval includes it.
  double noise() const;
  const trace::Trace& trace() const { return trace_; }
  const Analysis& analysis() const { return analysis_; }
  const Program& program() const { return program_; }
  const std::vector<Part>& parts() const { return parts_.all(); }
  const MarkedSteps& steps() const { return marked_; }
  const KernelNames& kernels() const { return kernels_; }
  const MachineFacts& machine() const { return machine_; }
  const SharedProcessors& processors() const { return processors_; }
  /// The recording whose reads show the storage: the whole one where `trace` is a stretch. `warm_from`: from when on.
  const trace::Trace& whole() const { return *whole_; }
  TimeNs warm_from() const { return warm_from_; }
  /// Delays in use that are not from the recording.
  std::vector<Assumption> assumptions() const { return assumptions_of(graph_); }
  Interval recorded(const MarkedStep& step) const;
  /// The length of a step (index into `steps().steps`) in the replay without any change.
  DurationNs replayed(std::size_t step) const;

  /// Share of the step by which the reported step and the program's own clock differ in one run of ten
  /// (docs/accuracy.md), so no change is known more exactly. Every interval is wider by it on both sides.
  static constexpr double kResolution = 0.005;

  /// Share of the step, where processors compute. Without a program's waits the same kernels took 4 % less where caches
  /// stayed warm and 10 % more beside a spinning thread; one program measured twice differs by 7 % (docs/accuracy.md).
  /// Every interval of such a run is wider by it on both sides.
  static constexpr double kDoubtOfThreads = 0.05;

  /// `model_error`: how far formulas of the scenario may be off, as a share of what they change; where the scenario also
  /// removes tasks or waits, as a share of the gain. `otherwise`: what may hold instead; the interval includes their gains.
  Prediction predict(const Scenario& scenario, double model_error = 0,
                     std::span<const Scenario> otherwise = {}) const;
  /// Several scenarios, on all cores. Prediction::basis is not filled.
  std::vector<Prediction> predict(std::span<const Scenario> scenarios) const;

  /// Per part: its time per step on the critical path of the recorded run. Halving the part gains at most
  /// half of that.
  std::vector<DurationNs> path_of_parts() const;

 private:
  /// A run that scenarios are compared with.
  struct Base {
    std::vector<double> lengths;  ///< of its steady steps, replayed, ns
    double scale = 1;             ///< factor for gains: scales them to the recorded step
  };
  /// `basis`: also fill Prediction::basis.
  Prediction predict_step(Replayer& replayer, const Scenario& scenario, double model_error,
                          bool basis = false, double cold = ColdCaches::kLikely) const;
  Prediction predict_beside(const Base& base, Replayer& replayer, const Scenario& scenario,
                            double model_error, bool basis, double cold) const;
  /// The same change if recording slowed the host by the most that is likely.
  Prediction predict_unrecorded(Replayer& replayer, const Scenario& scenario,
                                double model_error) const;
  /// Prediction::basis for the path that was replayed last.
  std::array<double, static_cast<std::size_t>(Basis::kCount_)> basis_of(
      const Replayer& replayer, const Scenario& scenario) const;
  /// The same change with shorter and with longer gaps between kernels than assumed; empty where the recording shows the gap
  /// or it was calibrated.
  std::vector<Scenario> with_other_gaps(const Scenario& scenario) const;
  /// The same change with the effect of its formulas multiplied by `by`.
  Scenario with_other_formulas(const Scenario& scenario, double by) const;
  /// `less`: by how much the gain may be smaller, as it may lie in few steps.
  double beyond_scatter(std::span<const double> gains, double less, bool on_schedule) const;
  /// Where the step time without recording is known: turns the program and the recorded steps into those of a run without
  /// recording.
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
  Base replayed_;                  ///< the recorded run
  Scenario lighter_;               ///< a host without recording, as it may be; empty: not used
  Base lightly_recorded_;          ///< the run under `lighter_`
  std::vector<double> scheduled_;  ///< ns of each steady step that come on schedule
  BlockPlan blocks_;               ///< of the whole run
  double run_to_run_ = 0;          ///< ns; half of the 95 % interval of the mean recorded step
  double usual_run_to_run_ = 0;    ///< likewise, of steps capped at the outlier limit
  double median_run_to_run_ = 0;   ///< likewise, of the median step
};

}  // namespace headway::analyzer
