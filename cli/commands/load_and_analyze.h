// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/ranks/analyze_job.h"
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
  std::unique_ptr<Analyzed> load(const std::string& path) const;
  /// Traces of one job (files, folders, patterns). Null on all processes of an MPI job but the
  /// first, which have nothing to print; `exit_code` is theirs.
  std::unique_ptr<Analyzed> load_job(const std::vector<std::string>& traces, int& exit_code) const;

 private:
  analyzer::AnalysisOptions options_;
};

/// Writes `text` to `path` ("-": standard output). Throws Error(kInternal) naming the file.
void write_output(const std::string& path, const std::string& text);

}  // namespace headway::cli
