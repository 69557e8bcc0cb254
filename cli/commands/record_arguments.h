// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "collector/record/record.h"

namespace CLI {
class App;
}

namespace headway::cli {

/// The options of the commands that start a program and record it, and that program's own command
/// line: declared once for `record` and `run`.
class RecordArguments {
 public:
  /// `command` is the name of the headway command, for usage and example.
  void declare(CLI::App& app, const std::string& command);
  /// After parsing.
  record::RecordOptions options() const;

 private:
  /// What of the run is recorded.
  void declare_scope(CLI::App& app);

  record::RecordOptions options_;
  std::string kill_ = "none";
  std::string wait_ = "all";
  std::string clock_ = "auto";
  std::string nvtx_ = "on";
  std::string cuda_ = "on";
  std::string cuda_graph_ = "node";
};

}  // namespace headway::cli
