// SPDX-License-Identifier: MIT
// What each stage costs from a file to the report: loading, steps, attribution, partition, rules,
// rendering, and the peak of memory. Usage: headway_bench_analysis [--quick] [FILE | EVENTS]
// With a number, or nothing, a run of eight ranks with that many events is made first (10 million).
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/report/report.h"
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

void measure(const std::filesystem::path& path) {
  auto begin = Clock::now();
  trace::Trace trace = trace::load(path);
  double loaded = seconds_since(begin);
  double events = static_cast<double>(trace.event_count());
  fmt::print("events: {:.0f} rows\n", events);
  fmt::print("load: {:.3f} s\n", loaded);
  fmt::print("load_rate: {:.2f} Mrows/s\n", events / loaded / 1e6);
  fmt::print("load_peak_memory: {:.0f} MB\n", peak_bytes() / 1e6);
  auto analysis_begin = Clock::now();
  analyzer::AnalysisOptions options;
  options.stage_done = [&](std::string_view stage) {
    std::string id(stage);
    std::replace(id.begin(), id.end(), ' ', '_');
    std::erase(id, ',');
    // Stages run beside each other, so each has an end but not all have a length of their own.
    fmt::print("{}_done_at: {:.3f} s\n", id, seconds_since(analysis_begin));
  };
  analyzer::Analysis analysis = analyzer::analyze(trace, options);
  fmt::print("analysis: {:.3f} s\n", seconds_since(analysis_begin));
  auto render_as = [&](std::string_view name, analyzer::ReportFormat format) {
    auto render_begin = Clock::now();
    std::size_t bytes = render(format, trace, analysis, {}).size();
    fmt::print("render_{}: {:.3f} s\n", name, seconds_since(render_begin));
    fmt::print("{}_bytes: {} B\n", name, bytes);
  };
  render_as("text", analyzer::ReportFormat::kText);
  fmt::print("file_to_text_report: {:.3f} s\n", seconds_since(begin));
  render_as("json", analyzer::ReportFormat::kJson);
  fmt::print("file_to_both_reports: {:.3f} s\n", seconds_since(begin));
  fmt::print("peak_memory: {:.0f} MB\n", peak_bytes() / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::measure_run(argc, argv, measure);
}
