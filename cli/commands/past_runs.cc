// SPDX-License-Identifier: MIT
#include "cli/commands/past_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzer/report/facts.h"
#include "cli/commands/progress.h"
#include "common/error.h"
#include "common/statistics.h"
#include "common/tell.h"
#include "common/text.h"
#include "trace/load/load.h"
#include "trace/meta_keys.h"

namespace headway::cli {
namespace {

namespace meta = trace::meta;

constexpr double kNoise = 0.03;
/// With fewer earlier runs the spread is unknown, and no run is called slower or faster.
constexpr std::size_t kFewest = 2;

std::string name_of(const std::filesystem::path& file, const trace::Trace& trace) {
  for (std::string_view key : {meta::kName, meta::kCommand})
    if (const std::string_view text = trace.meta_value(key); !text.empty())
      return std::string(text);
  return file.filename().string();
}

}  // namespace

PastRun past_run(const std::filesystem::path& file, const Analyzed& analyzed) {
  const trace::Trace& trace = analyzed.trace;
  const analyzer::Analysis& analysis = analyzed.analysis;
  PastRun run;
  run.file = file;
  run.start_utc_ns = trace.start_utc_ns;
  run.command = trace.meta_value(meta::kCommand);
  run.name = name_of(file, trace);
  run.commit = trace.meta_value(meta::kGitCommit);
  if (!analysis.steps.steady.empty()) {
    run.step = analysis.step_cost.per_step();
    run.steps = analysis.step_cost.steps;
  }
  if (!analysis.findings.empty() && analysis.findings.front().status == analyzer::Status::kFound)
    run.cause = analyzer::finding_label(analysis.findings.front());
  return run;
}

std::vector<PastRun> past_runs(const std::filesystem::path& folder, std::string_view name,
                               const AnalysisInput& input,
                               const std::function<void(Analyzed&)>& predict) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".sqlite") files.push_back(entry.path());
  if (error) fail_usage("{}: cannot read: {}.", folder.string(), error.message());
  std::ranges::sort(files);
  std::vector<PastRun> runs;
  std::string left_out;
  std::optional<Progress> progress("reading");
  std::size_t number = 0;
  for (const std::filesystem::path& file : files) {
    progress->now(fmt::format("reading and judging trace {} of {}", ++number, files.size()));
    try {
      Analyzed analyzed;
      analyzed.trace = trace::load(file.string());
      if (!name.empty() && !glob_match(name, name_of(file, analyzed.trace))) continue;
      analyzed.analysis = input.analyze(analyzed.trace);
      predict(analyzed);
      runs.push_back(past_run(file, analyzed));
    } catch (const Error& problem) {
      left_out += fmt::format("headway: skipped: {}\n", escape_terminal(problem.what()));
    }
  }
  progress.reset();
  tell(left_out);
  std::ranges::stable_sort(runs, {}, &PastRun::start_utc_ns);
  return runs;
}

void judge_past_runs(std::vector<PastRun>& runs, std::size_t last) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].step.ns <= 0) continue;
    std::vector<double> before;
    for (std::size_t j = i; j-- > 0 && before.size() < last;)
      if (runs[j].name == runs[i].name && runs[j].step.ns > 0)
        before.push_back(static_cast<double>(runs[j].step.ns));
    const auto step = static_cast<double>(runs[i].step.ns);
    runs[i].before = before.size();
    if (before.empty()) continue;
    runs[i].change = step / median(before) - 1;
    if (before.size() < kFewest) continue;
    const auto [least, most] = std::ranges::minmax(before);
    if (*runs[i].change >= kNoise && step > most) runs[i].judgement = "slower";
    if (*runs[i].change <= -kNoise && step < least) runs[i].judgement = "faster";
  }
}

}  // namespace headway::cli
