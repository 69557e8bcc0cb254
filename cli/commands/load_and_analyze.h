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

/// A trace and its analysis; the analysis refers to the trace.
using Analyzed = analyzer::JobReport;

/// The options and the loading that every command needs which judges a trace.
class AnalysisInput {
 public:
  void declare_options(CLI::App& app);
  /// For commands that make predictions.
  void declare_unrecorded_step(CLI::App& app);
  std::unique_ptr<Analyzed> load(const std::string& path) const;
  /// All ranks of a job (files, folders, patterns) as one trace.
  std::unique_ptr<Analyzed> load_whole(const std::vector<std::string>& traces) const;
  analyzer::Analysis analyze(const trace::Trace& trace) const;
  /// Takes from `options` what the command line left open.
  void fill_in(const analyzer::AnalysisOptions& options);
  const analyzer::AnalysisOptions& options() const { return options_; }
  /// Loads the traces of one job (files, folders, patterns). In an MPI job, returns null on all
  /// processes but the first: they have nothing to print and are done. A single trace without
  /// events has no verdict and throws Error, unless `may_be_empty` is set: then it is returned
  /// without an analysis.
  std::unique_ptr<Analyzed> load_job(const std::vector<std::string>& traces,
                                     bool may_be_empty = false) const;

 private:
  analyzer::AnalysisOptions options_;
};

/// While it lives, `write_output` to standard output goes to this object instead, as for a pipe: no
/// colour, the same width everywhere. Only one at a time.
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
/// Columns of the terminal on standard output, 60 to 140; 110 when there is no terminal, so that
/// files and pipes always get the same bytes.
std::size_t terminal_width();
/// Creates the folder and its parents. Throws Error(kUsage) naming it.
void make_folder(const std::string& path);

}  // namespace headway::cli
