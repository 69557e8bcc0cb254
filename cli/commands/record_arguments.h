// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "collector/record/record.h"

namespace CLI {
class App;
}

namespace headway::cli {

/// The options and the program's command line of the commands that start and record a program:
/// `record` and `run`.
class RecordArguments {
 public:
  /// `command` is the name of the headway command, for the usage line and the example.
  void declare(CLI::App& app, const std::string& command);
  /// Call after parsing.
  record::RecordOptions options() const;

 private:
  /// Options that say which part of the run is recorded.
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
