// SPDX-License-Identifier: MIT
#include "tests/analyzer/report/report_runs.h"

#include "tests/support/training_trace.h"

namespace headway::test {

std::unique_ptr<AnalyzedRun> hostile_run(std::string_view name) {
  TraceBuilder builder;
  for (int i = 0; i < 12; ++i) {
    std::int64_t t = i * 1'000'000;
    builder.range(1, "step", t, t + 900'000, {.kind = trace::RangeKind::kStep, .step = i});
    builder.range(1, name, t, t + 500'000);
    for (int k = 0; k < 4; ++k)
      builder.launch(1, t + 100'000 * k, t + 100'000 * k + 50'000, t + 100'000 * k + 60'000,
                     t + 100'000 * k + 65'000, {.name = name, .bytes = 4'000, .flops = 9'000});
    builder.range(2, "read", t, t + 300'000, {.kind = trace::RangeKind::kRead, .bytes = 10});
  }
  builder.thread_name(1, name);
  builder.thread_name(2, name);
  builder.setting("workers", name);
  builder.counter(name, name, 5, 1);
  builder.writer().set_meta("command", name);
  builder.writer().set_meta("host", name);
  auto run = std::make_unique<AnalyzedRun>(builder);
  run->trace.path = name;
  for (trace::Device& device : run->trace.devices) device.name = name;
  run->trace.losses.push_back({"lost", "loss", std::string(name), 1});
  for (trace::Process& process : run->trace.processes) process.name = process.command_line = name;
  run->analysis.doubts.push_back({"doubt", std::string(name)});
  for (analyzer::Finding& finding : run->analysis.findings) {
    finding.claim += name;
    finding.sub_cause = name;
    for (analyzer::Evidence& evidence : finding.evidence) evidence.note += name;
    for (analyzer::Advice& advice : finding.advice) advice.current = name;
  }
  return run;
}

std::vector<std::pair<std::string, std::unique_ptr<AnalyzedRun>>> runs_of_all_kinds() {
  std::vector<std::pair<std::string, std::unique_ptr<AnalyzedRun>>> runs;
  auto planted = [&](const char* name, const PlantedRun& run) {
    runs.emplace_back(name, std::make_unique<AnalyzedRun>(run));
  };
  planted("healthy", {});
  planted("input-bound", {.read = 600'000, .decode = 200'000, .copy = 30'000});
  planted("host-sync", {.sync_every_kernel = true});
  planted("many steps", {.steps = 700, .kernels = 2});
  {
    TraceBuilder builder;
    TrainingTrace{.steps = 12}.build(builder);
    runs.emplace_back("training", std::make_unique<AnalyzedRun>(builder));
  }
  {
    TraceBuilder builder;
    for (int i = 0; i < 8; ++i)
      builder.range(1, "step", i * 100, i * 100 + 90, {.kind = trace::RangeKind::kStep});
    runs.emplace_back("host only", std::make_unique<AnalyzedRun>(builder));
  }
  {
    TraceBuilder builder;
    builder.launch(1, 0, 5, 10, 20, {.name = "gemm"});
    builder.launch(1, 5, 9, 30, 90, {.name = "ncclDevKernel_AllReduce", .stream = 2});
    builder.launch(1, 9, 12, 50, 70, {.name = "gemm"});
    runs.emplace_back("no steps", std::make_unique<AnalyzedRun>(builder));
  }
  {
    TraceBuilder builder;
    builder.range(1, "lonely", 0, 10);
    runs.emplace_back("one range", std::make_unique<AnalyzedRun>(builder));
  }
  runs.emplace_back("hostile", hostile_run(kHostileName));
  return runs;
}

}  // namespace headway::test
