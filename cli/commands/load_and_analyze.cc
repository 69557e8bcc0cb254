// SPDX-License-Identifier: MIT
#include "cli/commands/load_and_analyze.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "analyzer/ranks/merge_traces.h"
#include "cli/commands/progress.h"
#include "cli/mpi/exchange.h"
#include "common/error.h"
#include "trace/import/inputs.h"
#include "trace/load/load.h"

namespace headway::cli {

void AnalysisInput::declare_options(CLI::App& app) {
  app.add_option("--step-range", options_.steps.range,
                 "Name of the NVTX range of a training step; a final '*' matches any ending")
      ->type_name("NAME");
  app.add_option("--skip-steps", options_.steps.skip,
                 "Exclude this many warm-up steps instead of detecting warm-up")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
}

void AnalysisInput::declare_unrecorded_step(CLI::App& app) {
  app.add_option_function<double>(
         "--unrecorded-step",
         [this](double ns) { options_.steps.unrecorded = DurationNs{std::llround(ns)}; },
         "What a step takes when nothing records it, e.g. 45.2ms by the program's own clock: "
         "recording lengthens CUDA calls, and predictions are for a run without recording")
      ->type_name("TIME")
      ->transform(CLI::AsNumberWithUnit(
          std::map<std::string, double>{{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}},
          CLI::AsNumberWithUnit::Options(CLI::AsNumberWithUnit::CASE_SENSITIVE |
                                         CLI::AsNumberWithUnit::UNIT_REQUIRED)))
      ->check(CLI::Validator(
          [](const std::string& ns) {
            return std::strtod(ns.c_str(), nullptr) > 0
                       ? std::string()
                       : "expected a time above zero, such as 45.2ms";
          },
          ""));
}

std::unique_ptr<Analyzed> AnalysisInput::load(const std::string& path) const {
  Progress progress("reading " + path);
  auto result = std::make_unique<Analyzed>();
  result->trace = trace::load(path, {.progress = progress.share()});
  progress.now("analysing " + path);
  result->analysis = analyze(result->trace);
  return result;
}

std::unique_ptr<Analyzed> AnalysisInput::load_whole(const std::vector<std::string>& traces) const {
  const std::vector<std::string> files = trace::expand_inputs(traces);
  if (files.size() == 1) return load(files.front());
  Progress progress("reading");
  std::vector<trace::Trace> ranks;
  for (const std::string& file : files) {
    progress.now(fmt::format("reading trace {} of {}", ranks.size() + 1, files.size()));
    ranks.push_back(trace::load(file));
  }
  progress.now("analysing the job");
  auto result = std::make_unique<Analyzed>();
  result->trace = analyzer::merge_traces(std::move(ranks));
  result->analysis = analyze(result->trace);
  return result;
}

analyzer::Analysis AnalysisInput::analyze(const trace::Trace& trace) const {
  return analyzer::analyze(trace, options_);
}

void AnalysisInput::fill_in(const analyzer::AnalysisOptions& options) {
  if (options_.steps.range.empty()) options_.steps.range = options.steps.range;
  if (options_.steps.skip < 0) options_.steps.skip = options.steps.skip;
  if (options_.steps.unrecorded.ns == 0) options_.steps.unrecorded = options.steps.unrecorded;
}

std::size_t terminal_width() {
  struct winsize size {};
  constexpr std::size_t kWithout = 110;
  if (CapturedOutput::is_on()) return kWithout;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kWithout;
  return std::clamp<std::size_t>(size.ws_col, 60, 140);
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!std::filesystem::is_directory(path))
    fail_usage("{}: cannot create the folder: {}.", path,
               error ? error.message() : std::string("a file of that name exists"));
}

std::unique_ptr<Analyzed> AnalysisInput::load_job(const std::vector<std::string>& traces,
                                                  bool may_be_empty) const {
  std::unique_ptr<analyzer::Exchange> exchange = make_exchange();
  const std::vector<std::string> files = trace::expand_inputs(traces);
  if (files.size() > 1 || exchange->count() > 1) {
    Progress progress(fmt::format("reading and analysing {} traces", files.size()));
    return analyzer::analyze_job(files, options_, *exchange);
  }
  Progress progress("reading " + files.front());
  trace::Trace trace = trace::load(files.front(), {.progress = progress.share()});
  if (may_be_empty && trace.event_count() == 0) {
    auto unjudged = std::make_unique<Analyzed>();
    unjudged->trace = std::move(trace);
    return unjudged;
  }
  progress.now("analysing " + files.front());
  return analyzer::analyze_ranks(std::move(trace), options_);
}

namespace {

std::string* captured = nullptr;

}  // namespace

CapturedOutput::CapturedOutput() {
  captured = &text_;
}

CapturedOutput::~CapturedOutput() {
  captured = nullptr;
}

bool CapturedOutput::is_on() {
  return captured != nullptr;
}

void write_output(const std::string& path, const std::string& text) {
  if (path == "-" && captured) {
    *captured += text;
    return;
  }
  if (path == "-") {
    // A closed pipe (`headway report … | head`) is not an error.
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
        std::fflush(stdout) != 0) {
      if (errno != EPIPE) fail_internal("standard output: {}", system_error_text(errno));
    }
    return;
  }
  // A report reveals as much about a program as its trace, so a new file is readable by its owner
  // only. A file that is replaced keeps its permissions.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) fail_usage("{}: cannot write: {}.", path, system_error_text(errno));
  int code = 0;
  for (std::string_view rest = text; !rest.empty() && code == 0;) {
    const ssize_t written = ::write(fd, rest.data(), rest.size());
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
    if (written < 0 && errno != EINTR) code = errno;
  }
  if (::close(fd) != 0 && code == 0) code = errno;
  if (code != 0) fail_usage("{}: cannot write: {}.", path, system_error_text(code));
}

}  // namespace headway::cli
