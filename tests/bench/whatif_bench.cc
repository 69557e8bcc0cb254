// SPDX-License-Identifier: MIT
// What a prediction costs: the dependency graph, the program made of it, one replay, all fixes, memory.
// Usage: headway_bench_whatif [--quick] [FILE | EVENTS]; without a file a run of eight ranks with that
// many events is made first (10 million).
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/replay/replayer.h"
#include "analyzer/whatif/whatif.h"
#include "tests/bench/generated_run.h"
#include "trace/load/load.h"

namespace {

using namespace headway;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

void print(std::string_view name, double value, std::string_view unit, double limit = 0) {
  fmt::print(
      "{}: {:.2f} {}{}\n", name, value, unit,
      limit > 0 ? fmt::format(" (limit {:g}: {})", limit, value <= limit ? "pass" : "FAIL") : "");
}

template <class Work>
double median_ms(int repeats, Work work) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    auto begin = Clock::now();
    work();
    times.push_back(seconds_since(begin) * 1e3);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void measure(const std::filesystem::path& path) {
  trace::Trace trace = trace::load(path);
  fmt::print("events: {} rows\n", trace.event_count());
  analyzer::Analysis analysis = analyzer::analyze(trace);
  {
    auto begin = Clock::now();
    analyzer::DependencyGraph graph(trace);
    print("graph", seconds_since(begin), "s", 4);
    fmt::print("graph_points: {} points\n", graph.points().size());
  }
  auto begin = Clock::now();
  analyzer::Predictor predictor(trace, analysis);
  print("predictor", seconds_since(begin), "s");
  fmt::print("constraints: {}\n", predictor.program().constraint_count());
  if (!predictor.missing().empty()) {
    fmt::print("cannot predict, because {}\n", predictor.missing());
    return;
  }
  print("residual", 100 * predictor.baseline().residual, "% of the step");
  analyzer::Replayer replayer(predictor.program());
  replayer.run({});  // memory
  print("replay", median_ms(5, [&] { replayer.run({}); }), "ms", 150);
  analyzer::Scenario scaling = analyzer::parse_scaling(predictor, "compute_other=0.5");
  print("replay_scaled", median_ms(5, [&] { replayer.run(scaling); }), "ms", 150);
  for (const analyzer::Fix* fix : analyzer::all_fixes()) {
    begin = Clock::now();
    analyzer::Proposal proposal = fix->propose(predictor);
    double proposed = seconds_since(begin);
    if (!proposal.applies) continue;
    print(fmt::format("propose_{}", fix->id), proposed * 1e3, "ms");
    print(fmt::format("replay_{}", fix->id), median_ms(3, [&] { replayer.run(proposal.scenario); }),
          "ms", 150);
  }
  begin = Clock::now();
  analyzer::what_if(predictor);
  print("all", seconds_since(begin), "s");
  print("peak_memory", peak_bytes() / 1e9, "GB", 3);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::measure_run(argc, argv, measure);
}
