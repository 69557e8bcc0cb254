// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/job/analyze_job.h"
#include "trace/trace.h"

namespace CLI {
class App;
}

namespace headway::cli {

/// A trace and its analysis, which refers to it.
using Analyzed = analyzer::JobReport;

/// What every command that judges a trace needs: the options and the loading, in one place.
class AnalysisInput {
 public:
  void declare_options(CLI::App& app);
  /// Of commands that predict.
  void declare_unrecorded_step(CLI::App& app);
  std::unique_ptr<Analyzed> load(const std::string& path) const;
  /// All ranks of a job (files, folders, patterns) as one trace.
  std::unique_ptr<Analyzed> load_whole(const std::vector<std::string>& traces) const;
  analyzer::Analysis analyze(const trace::Trace& trace) const;
  /// What the command line left open is taken from `options`.
  void fill_in(const analyzer::AnalysisOptions& options);
  const analyzer::AnalysisOptions& options() const { return options_; }
  /// Traces of one job (files, folders, patterns). Null on all processes of an MPI job but the
  /// first, which have nothing to print and are done. One trace without events throws Error, as it has
  /// no verdict, unless it `may_be_empty`: then it comes without an analysis.
  std::unique_ptr<Analyzed> load_job(const std::vector<std::string>& traces,
                                     bool may_be_empty = false) const;

 private:
  analyzer::AnalysisOptions options_;
};

/// While it lives, what goes to standard output by `write_output` is kept here instead, as for a pipe:
/// no colour, the same width everywhere. One at a time.
class CapturedOutput {
 public:
  CapturedOutput();
  ~CapturedOutput();
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;
  std::string take() { return std::move(text_); }
  static bool is_on();

 private:
  std::string text_;
};

/// Writes `text` to `path` ("-": standard output). Throws Error(kInternal) naming the file.
void write_output(const std::string& path, const std::string& text);
/// Columns of the terminal on standard output, 60 to 140; 110 when there is none, so that files and
/// pipes always get the same bytes.
std::size_t terminal_width();
/// Makes the folder and those above it. Throws Error(kUsage) naming it.
void make_folder(const std::string& path);

}  // namespace headway::cli
