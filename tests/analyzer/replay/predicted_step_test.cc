// SPDX-License-Identifier: MIT
#include "analyzer/replay/predicted_step.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "analyzer/whatif/fix.h"
#include "analyzer/whatif/timeline_json.h"
#include "analyzer/whatif/whatif.h"
#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

using test::TraceBuilder;
using trace::DeviceCallKind;
using trace::Phase;
using trace::RangeKind;

constexpr std::int64_t kUs = 1000;
constexpr int kSteps = 24;

/// Steps one after another; `step` writes the one of that number that begins at a time and gives its
/// end.
struct Run {
  using Step = std::function<std::int64_t(TraceBuilder&, std::int64_t now, int number)>;

  explicit Run(const Step& step) {
    TraceBuilder builder;
    std::int64_t now = 0;
    for (int i = 0; i < kSteps; ++i) {
      const std::int64_t end = step(builder, now, i);
      builder.range(1, "step", now, end, {.kind = RangeKind::kStep, .step = i});
      now = end;
    }
    trace = builder.load();
    analysis = analyze(trace);
    predictor.emplace(trace, analysis);
    REQUIRE(predictor->missing().empty());
  }

  PredictedStep predict(const Scenario& scenario = {}) const {
    return predict_timeline(*predictor, scenario);
  }
  PredictedStep fix(std::string_view id) const {
    const Proposal proposal = find_fix(id)->propose(*predictor);
    REQUIRE(proposal.applies);
    return predict(proposal.scenario);
  }
  DeviceCallKind kind(const PredictedTask& task) const {
    return trace.calls.kind[task.event.index];
  }

  trace::Trace trace;
  Analysis analysis;
  std::optional<Predictor> predictor;
};

bool is_op(const PredictedTask& task) {
  return task.event.kind == EventRef::Kind::kDeviceOp;
}
bool is_call(const PredictedTask& task) {
  return task.event.kind == EventRef::Kind::kCall;
}

/// 20 kernels of 100 µs; the host waits for each: launch 15 µs, kernel, 5 µs to wake up.
std::int64_t step_with_syncs(TraceBuilder& builder, std::int64_t now, int) {
  for (int k = 0; k < 20; ++k) {
    const std::int64_t begin = now;
    builder.launch(1, now, now + 10 * kUs, now + 15 * kUs, now + 115 * kUs,
                   {.phase = k < 19 ? Phase::kForward : Phase::kUpdate});
    builder.call(1, DeviceCallKind::kStreamSynchronize, now + 10 * kUs, now + 120 * kUs);
    now += 120 * kUs;
    builder.range(1, "layer", begin, now);
  }
  return now;
}

/// 20 kernels of 10 µs on two streams, each launched by a call of 30 µs.
std::int64_t step_of_launches(TraceBuilder& builder, std::int64_t now, int) {
  for (int k = 0; k < 20; ++k) {
    builder.launch(1, now, now + 30 * kUs, now + 12 * kUs, now + 22 * kUs,
                   {.stream = 1 + k % 2, .phase = k < 19 ? Phase::kForward : Phase::kUpdate});
    now += 30 * kUs;
  }
  return now;
}

/// Ops of each stream and calls of each thread come as they were recorded, one after another.
void check_order(const Run& run, const PredictedStep& step) {
  std::map<std::uint32_t, std::vector<const PredictedTask*>> lines;
  for (const PredictedTask& task : step.tasks) {
    if (is_op(task)) lines[run.trace.device_ops.stream[task.event.index].value].push_back(&task);
    if (is_call(task))
      lines[1000 + run.trace.calls.thread[task.event.index].value].push_back(&task);
  }
  CHECK(lines.size() >= 2);
  for (auto& [line, tasks] : lines) {
    std::stable_sort(tasks.begin(), tasks.end(),
                     [](auto* a, auto* b) { return a->event < b->event; });
    for (std::size_t i = 1; i < tasks.size(); ++i)
      CHECK(tasks[i - 1]->predicted.end <= tasks[i]->predicted.begin);
  }
}

}  // namespace

TEST_CASE("without a change the predicted step is the recorded one, event by event") {
  for (auto body : {step_with_syncs, step_of_launches}) {
    Run run(body);
    PredictedStep step = run.predict();
    CHECK(step.predicted == step.recorded.length());
    CHECK(step.gain().ns == 0);
    CHECK(std::count_if(step.tasks.begin(), step.tasks.end(), is_op) == 20);
    CHECK(std::count_if(step.tasks.begin(), step.tasks.end(), is_call) >= 20);
    for (const PredictedTask& task : step.tasks) {
      CHECK(task.fate == Fate::kStays);
      CHECK(task.predicted == task.recorded);
    }
    check_order(run, step);
  }
}

TEST_CASE("without waits for the device the step ends earlier, and each stream keeps its order") {
  Run run(step_with_syncs);
  PredictedStep step = run.fix("remove-syncs");
  CHECK(step.recorded.length().ns == 2400 * kUs);
  CHECK(step.predicted.ns / 1e3 == doctest::Approx(2000).epsilon(0.01));
  CHECK(step.gain().ns / 1e3 == doctest::Approx(400).epsilon(0.05));
  CHECK(step.predicted_interval().begin == step.recorded.begin);
  check_order(run, step);
  int waits = 0;
  for (const PredictedTask& task : step.tasks) {
    if (is_op(task)) {
      CHECK(task.fate == Fate::kStays);
      CHECK(task.predicted.length() == task.recorded.length());
    }
    if (!is_call(task)) continue;
    const bool waited = run.kind(task) == DeviceCallKind::kStreamSynchronize;
    CHECK((task.fate == Fate::kGone) == waited);
    CHECK(task.predicted.empty() == waited);
    waits += waited;
  }
  CHECK(waits >= 20);
  // Once the host no longer waits it is ahead: it launches later steps while this one runs.
  CHECK(std::any_of(step.tasks.begin(), step.tasks.end(), [&](const PredictedTask& task) {
    return is_call(task) && task.recorded.begin >= step.recorded.end &&
           task.predicted.begin < step.predicted_interval().end;
  }));
}

TEST_CASE("launches that a graph makes are gone, and their ops are launched no longer") {
  Run run(step_of_launches);
  PredictedStep step = run.fix("cuda-graph");
  CHECK(step.predicted < step.recorded.length());
  const auto gone = std::count_if(
      step.tasks.begin(), step.tasks.end(),
      [](const PredictedTask& task) { return is_call(task) && task.fate == Fate::kGone; });
  const auto joined =
      std::count_if(step.tasks.begin(), step.tasks.end(),
                    [](const PredictedTask& t) { return is_op(t) && t.fate == Fate::kJoined; });
  CHECK(gone >= 19);
  CHECK(joined == 19);
  check_order(run, step);
}

TEST_CASE("ranges move with the calls of their thread") {
  Run run(step_with_syncs);
  PredictedStep same = run.predict();
  const auto layers = [&](const PredictedStep& step) {
    std::vector<PredictedTask> found;
    for (const PredictedTask& task : step.tasks)
      if (name_of(run.trace, task.event) == "layer") found.push_back(task);
    return found;
  };
  // The step on the device begins later than on the host, within a layer.
  CHECK(layers(same).size() == 21);
  for (const PredictedTask& layer : layers(same)) {
    CHECK(layer.interpolated);
    CHECK(layer.predicted == layer.recorded);
  }
  // A launch of 10 µs is all that is left of a layer when the wait is gone.
  PredictedStep step = run.fix("remove-syncs");
  for (const PredictedTask& layer : layers(step))
    if (layer.recorded.begin >= step.recorded.end) CHECK(layer.predicted.length().ns == 10 * kUs);
  REQUIRE(step.threads.size() == 1);
  CHECK(step.threads.front() == run.analysis.steps.all[step.step].thread);
}

TEST_CASE("a scaled class changes the lengths of its ops alone") {
  Run run(step_with_syncs);
  PredictedStep step = run.predict(parse_scaling(*run.predictor, "kernel:*=0.5"));
  CHECK(step.predicted.ns == 20 * 70 * kUs);
  for (const PredictedTask& task : step.tasks) {
    if (is_op(task)) CHECK(task.predicted.length().ns == 50 * kUs);
    CHECK(task.fate == Fate::kStays);
  }
}

TEST_CASE("a resource that the graph does not have makes the step longer than its tasks") {
  Run run(step_with_syncs);
  Scenario scenario = parse_scaling(*run.predictor, "kernel:*=0.5");
  scenario.at_least = {2000 * kUs};
  PredictedStep step = run.predict(scenario);
  CHECK(step.predicted.ns == 2000 * kUs);
  CHECK(step.replayed_tasks.ns == 20 * 70 * kUs);
}

TEST_CASE("the step that is shown is as long as most, and gains as much as they do") {
  Run run([](TraceBuilder& builder, std::int64_t now, int number) {
    // Steps 4 and 9 are far off; of the others those with odd numbers are 1 µs longer.
    now = step_with_syncs(builder, now, number);
    return now + (number == 4 || number == 9 ? 900 : number % 2) * kUs;
  });
  const PredictedStep step = run.predict();
  CHECK(step.recorded.length().ns <= 2401 * kUs);
  CHECK(run.analysis.steps.all[step.step].steady);
  // Not what the two that are far off gain.
  CHECK(run.fix("remove-syncs").gain().ns / 1e3 == doctest::Approx(400).epsilon(0.05));
}

TEST_CASE("the timeline as JSON has the step as recorded and as predicted, row by row") {
  Run run(step_with_syncs);
  const PredictedStep step = run.fix("remove-syncs");
  const auto json = nlohmann::json::parse(
      timeline_json(*run.predictor, step, {"remove-syncs", "Do not wait for the device"}));
  std::map<int, std::map<std::string, double>> longest;  // by process and category
  std::map<int, std::map<std::string, int>> count;
  std::map<int, std::map<std::int64_t, std::string>> rows;
  std::map<int, double> device_end;
  std::set<std::string> fates;
  std::set<std::string> classes;
  for (const auto& event : json.at("traceEvents")) {
    const int process = event.at("pid").get<int>();
    if (event.at("ph") == "M") {
      if (event.at("name") == "thread_name")
        rows[process][event.at("tid").get<std::int64_t>()] = event.at("args").at("name");
      continue;
    }
    REQUIRE(event.at("ph") == "X");
    const std::string category = event.at("cat");
    const double end = event.at("ts").get<double>() + event.at("dur").get<double>();
    ++count[process][category];
    double& its = longest[process][category];
    its = std::max(its, event.at("dur").get<double>());
    if (category == "device") {
      classes.insert(event.at("args").at("class").get<std::string>());
      device_end[process] = std::max(device_end[process], end);
    }
    if (category == "call") fates.insert(event.at("args").at("fate").get<std::string>());
    CHECK(rows[process].contains(event.at("tid").get<std::int64_t>()));
  }
  // The truth: 20 kernels of 120 µs with the waits, 100 µs and a gap each without them.
  CHECK(longest[1]["step"] == doctest::Approx(2400));
  CHECK(longest[2]["step"] == doctest::Approx(static_cast<double>(step.predicted.ns) / 1e3));
  CHECK(longest[2]["step"] == doctest::Approx(2000).epsilon(0.01));
  CHECK(json.at("otherData").at("predicted_ns") == step.predicted.ns);
  CHECK(json.at("otherData").at("fix") == "remove-syncs");
  CHECK(rows[1] == rows[2]);
  CHECK(rows[1].size() == 4);  // the step, a stream, a thread's ranges and its calls
  CHECK(count[1]["device"] == 20);
  CHECK(count[2]["device"] == 20);
  CHECK(count[1]["range"] >= 20);  // a layer for each kernel
  CHECK(count[2]["range"] >= 20);
  CHECK(classes == std::set<std::string>{"compute_other", "optimizer"});
  // The step ends with its last kernel.
  CHECK(device_end[1] == doctest::Approx(longest[1]["step"]));
  CHECK(device_end[2] == doctest::Approx(longest[2]["step"]));
  CHECK(fates == std::set<std::string>{"gone", "stays"});
}

}  // namespace headway::analyzer
