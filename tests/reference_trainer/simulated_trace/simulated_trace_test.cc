// SPDX-License-Identifier: MIT
// Traces of simulated runs: read back as what was simulated, and analysed against the truth.
#include "reference_trainer/simulated_trace/write_trace.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "analyzer/job/analyze_job.h"
#include "analyzer/whatif/predict_findings.h"
#include "common/gpu_models.h"
#include "reference_trainer/oracle/step_truth.h"
#include "tests/reference_trainer/simulated_trace/simulate.h"
#include "tests/support/temporary_folder.h"
#include "trace/load/load.h"

namespace headway::trainer {
namespace {

using analyzer::TimeClass;

using test::simulate;
using test::Simulated;

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::unique_ptr<analyzer::JobReport> analyse(const Simulated& simulated) {
  const test::TemporaryFolder folder;
  const auto path = folder / "a run.sqlite";
  sim::write_trace(simulated.run, path);
  return analyzer::analyze_ranks(trace::load(path));
}

/// With the findings that `headway report` shows: some rules find nothing before their fix is predicted.
std::unique_ptr<analyzer::JobReport> report_of(const Simulated& simulated) {
  auto report = analyse(simulated);
  analyzer::predict_findings(report->trace, report->analysis, {},
                             report->whole ? &*report->whole : nullptr);
  return report;
}

bool found(const analyzer::JobReport& report, std::string_view rule) {
  const auto& findings = report.analysis.findings;
  return std::ranges::any_of(findings, [&](const analyzer::Finding& finding) {
    return finding.rule == rule && finding.status == analyzer::Status::kFound;
  });
}

}  // namespace

TEST_CASE("the same run gives the same bytes, in one file and in one per rank") {
  test::TemporaryFolder folder;
  const Simulated simulated = simulate("comm-exposed");
  sim::write_trace(simulated.run, folder / "a.sqlite");
  sim::write_trace(simulate("comm-exposed").run, folder / "b.sqlite");
  CHECK(bytes_of(folder / "a.sqlite") == bytes_of(folder / "b.sqlite"));
  sim::write_trace(simulated.run, folder / "rank%r.sqlite");
  for (int rank = 0; rank < 4; ++rank) {
    const trace::Trace one = trace::load(folder / ("rank" + std::to_string(rank) + ".sqlite"));
    CHECK(one.world_size == 4);
    REQUIRE(one.processes.size() == 1);
    CHECK(one.processes[0].rank == rank);
  }
}

TEST_CASE(
    "a trace reads back as what was simulated, without losses, and says that it is simulated") {
  test::TemporaryFolder folder;
  const Simulated simulated = simulate("comm-not-overlapped");
  sim::write_trace(simulated.run, folder / "t.sqlite");
  const trace::Trace trace = trace::load(folder / "t.sqlite");
  std::size_t ops = 0;
  std::size_t calls = 0;
  std::size_t ranges = 0;
  std::size_t collectives = 0;
  for (const sim::Recording& recording : simulated.run.recordings) {
    ops += recording.ops.size();
    calls += recording.calls.size();
    ranges += recording.ranges.size();
    collectives += recording.collectives.size();
  }
  CHECK(trace.device_ops.size() == ops);
  CHECK(trace.calls.size() == calls);
  CHECK(trace.ranges.size() == ranges);
  CHECK(trace.collectives.size() == collectives);
  CHECK(collectives > 0);
  CHECK(trace.complete);
  for (const trace::LossCount& loss : trace.losses) {
    CAPTURE(loss.name);
    CHECK(loss.count == 0);
  }
  const auto unlaunched = std::ranges::count_if(trace.device_ops.call,
                                                [](trace::CallId call) { return !call.valid(); });
  CHECK(unlaunched == 0);
  const auto report = analyzer::analyze_ranks(trace::load(folder / "t.sqlite"));
  const auto& doubts = report->analysis.doubts;
  CHECK(std::ranges::any_of(doubts, [](const analyzer::Doubt& doubt) {
    return doubt.text.find("simulated") != std::string::npos;
  }));
}

TEST_CASE("every GPU that can be simulated is found by its name in a trace") {
  for (const sim::GpuCosts& each : sim::gpu_costs()) {
    const sim::SimulatedGpu gpu = sim::find_simulated_gpu(each.model);
    CAPTURE(sim::device_name(gpu));
    CHECK(find_gpu(sim::device_name(gpu)) == gpu.model);
    CHECK(sim::device_name(gpu).starts_with("Simulated "));
  }
}

TEST_CASE("the analyzer's time by class is the truth, in every preset of one rank") {
  for (const Preset& preset : all_presets()) {
    const Simulated simulated = simulate(preset.name);
    if (simulated.settings.ranks > 1) continue;
    CAPTURE(preset.name);
    const auto report = analyse(simulated);
    REQUIRE(report->analysis.partitions.size() == 1);
    const auto& partition = report->analysis.partitions[0];
    analyzer::ClassTimes measured;
    double measured_total = 0;
    for (const auto& step : partition.steps) {
      if (step.step < 5) continue;
      for (std::size_t i = 0; i < analyzer::kTimeClassCount; ++i)
        measured.of[i] += step.times.of[i];
      measured_total += static_cast<double>(step.interval.length().ns);
    }
    std::array<double, kTruthClasses> truth{};
    double truth_total = 0;
    for (const StepTruth& step :
         step_truths(simulated.run.recordings[0], 1, simulated.run.gpu.costs->launch_latency_ns)) {
      if (step.step < 5) continue;
      for (std::size_t i = 0; i < kTruthClasses; ++i) truth[i] += static_cast<double>(step.ns[i]);
      truth_total += static_cast<double>(step.end - step.start);
    }
    auto measured_share = [&](std::initializer_list<TimeClass> classes) {
      double sum = 0;
      for (TimeClass each : classes) sum += static_cast<double>(measured[each].ns);
      return sum / measured_total;
    };
    auto true_share = [&](std::initializer_list<TruthClass> classes) {
      double sum = 0;
      for (TruthClass each : classes) sum += truth[static_cast<std::size_t>(each)];
      return sum / truth_total;
    };
    constexpr double kTolerance = 0.02;  // of the step
    auto close = [&](double a, double b) { return std::abs(a - b) < kTolerance; };
    CHECK(close(measured_share({TimeClass::kComputeTensor, TimeClass::kComputeOther}),
                true_share({TruthClass::kCompute})));
    CHECK(close(measured_share({TimeClass::kOptimizer}), true_share({TruthClass::kOptimizer})));
    CHECK(close(measured_share({TimeClass::kH2d}), true_share({TruthClass::kH2d})));
    CHECK(close(measured_share({TimeClass::kIoRead}), true_share({TruthClass::kIoRead})));
    CHECK(close(measured_share({TimeClass::kDecode}), true_share({TruthClass::kDecode})));
    // What a refill of the queue after a synchronisation or a free is called is a matter of words.
    CHECK(close(
        measured_share({TimeClass::kLaunchGap, TimeClass::kHostSync, TimeClass::kAllocator,
                        TimeClass::kHostOther, TimeClass::kBetweenSteps, TimeClass::kFrontendGap}),
        true_share({TruthClass::kLaunchGap, TruthClass::kHostSync, TruthClass::kAllocator,
                    TruthClass::kHostOther, TruthClass::kFrontendGap})));
    // Between what the calls take, and that with all refills.
    CHECK(measured_share({TimeClass::kAllocator}) + kTolerance >
          true_share({TruthClass::kAllocator}));
    CHECK(measured_share({TimeClass::kAllocator}) <
          true_share({TruthClass::kAllocator, TruthClass::kLaunchGap}) + kTolerance);
    CHECK(measured_share({TimeClass::kUnknown}) < kTolerance);
  }
}

TEST_CASE(
    "in 200 drawn worlds the analyzer's time on the device is the truth within 1 % of the step") {
  constexpr double kTolerance = 0.01;
  int world = 0;  // each is another machine
  for (const char* preset :
       {"healthy", "launch-bound", "unfused", "pageable-copy", "input-bound"}) {
    for (int i = 0; i < 40; ++i) {
      ++world;
      CAPTURE(preset);
      CAPTURE(world);
      EffectiveSettings effective;
      effective.apply(find_preset(preset), DeviceKind::kSim);
      Settings settings = effective.values();
      settings.world = world;
      settings.batch = std::min<std::int64_t>(settings.batch, 256);
      const Simulated simulated = simulate(settings, 25);
      const auto report = analyse(simulated);
      REQUIRE(report->analysis.partitions.size() == 1);
      std::array<double, kTruthClasses> truth{};
      double truth_total = 0;
      for (const StepTruth& step : step_truths(simulated.run.recordings[0], 1,
                                               simulated.run.gpu.costs->launch_latency_ns)) {
        if (step.step < 5) continue;
        for (std::size_t i = 0; i < kTruthClasses; ++i) truth[i] += static_cast<double>(step.ns[i]);
        truth_total += static_cast<double>(step.end - step.start);
      }
      analyzer::ClassTimes measured;
      double measured_total = 0;
      for (const auto& step : report->analysis.partitions[0].steps) {
        if (step.step < 5) continue;
        for (std::size_t i = 0; i < analyzer::kTimeClassCount; ++i)
          measured.of[i] += step.times.of[i];
        measured_total += static_cast<double>(step.interval.length().ns);
      }
      auto check = [&](std::initializer_list<TimeClass> classes,
                       std::initializer_list<TruthClass> truths) {
        double is = 0;
        double should = 0;
        for (TimeClass each : classes) is += static_cast<double>(measured[each].ns);
        for (TruthClass each : truths) should += truth[static_cast<std::size_t>(each)];
        CHECK(std::abs(is / measured_total - should / truth_total) < kTolerance);
      };
      check({TimeClass::kComputeTensor, TimeClass::kComputeOther}, {TruthClass::kCompute});
      check({TimeClass::kOptimizer}, {TruthClass::kOptimizer});
      check({TimeClass::kH2d}, {TruthClass::kH2d});
      check({TimeClass::kIoRead}, {TruthClass::kIoRead});
      check({TimeClass::kDecode}, {TruthClass::kDecode});
    }
  }
}

TEST_CASE("a trace of a drawn world has the same bytes for a seed and nothing of what was drawn") {
  test::TemporaryFolder folder;
  EffectiveSettings effective;
  effective.apply(find_preset("comm-exposed"), DeviceKind::kSim);
  Settings settings = effective.values();
  settings.world = 7;
  const Simulated simulated = simulate(settings, 12);
  sim::write_trace(simulated.run, folder / "a.sqlite");
  sim::write_trace(simulate(settings, 12).run, folder / "b.sqlite");
  const std::string bytes = bytes_of(folder / "a.sqlite");
  CHECK(bytes == bytes_of(folder / "b.sqlite"));
  for (const auto& [name, value] : sim::describe(*simulated.run.world)) {
    if (name == "seed") continue;
    CAPTURE(name);
    CHECK(bytes.find(name) == std::string::npos);
  }
}

TEST_CASE("each preset's rule finds it, and does not without what was planted") {
  for (const Preset& preset : all_presets()) {
    if (preset.rule.empty()) continue;
    CAPTURE(preset.name);
    CHECK(found(*report_of(simulate(preset.name)), preset.rule));
    CHECK(!found(*report_of(simulate(preset.name, false)), preset.rule));
  }
}

TEST_CASE("what a finding's fix is predicted to leave is what the run without the cause takes") {
  struct Case {
    const char* preset;
    double tolerance;  ///< of the step
  };
  // host-sync: after each op the host waits, so the gap between two kernels is never seen, and guessed.
  for (const Case& one : {Case{"host-sync", 0.1},
                          {"allocator", 0.005},
                          {"copy-not-overlapped", 0.01},
                          {"unfused-optimizer", 0.05},
                          {"comm-not-overlapped", 0.02}}) {
    CAPTURE(std::string(one.preset));
    const auto report = analyse(simulate(one.preset));
    analyzer::predict_findings(report->trace, report->analysis);
    const auto& findings = report->analysis.findings;
    const auto finding = std::ranges::find_if(
        findings, [&](const analyzer::Finding& each) { return each.rule == one.preset; });
    REQUIRE(finding != findings.end());
    REQUIRE(finding->predicted.has_value());
    const double without_ns = simulate(one.preset, false).run.result.mean_step_s() * 1e9;
    CHECK(static_cast<double>(finding->predicted->step.ns) ==
          doctest::Approx(without_ns).epsilon(one.tolerance));
  }
}

TEST_CASE("nothing is found in a healthy run that costs more than a few percent of the step") {
  const auto report = analyse(simulate("healthy"));
  for (const analyzer::Finding& finding : report->analysis.findings) {
    CAPTURE(finding.rule);
    CAPTURE(finding.claim);
    // A run in FP32 has tensor cores to gain: that is true, and another matter.
    if (finding.status == analyzer::Status::kFound && finding.rule != "no-tensor-cores")
      CHECK(finding.share_of_step < 0.05);
  }
}

}  // namespace headway::trainer
