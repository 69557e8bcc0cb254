// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "analyzer/hardware/machine_facts.h"

namespace CLI {
class App;
}

namespace headway::cli {

/// `--calibration FILE`; without it, this user's stored calibration if it is of the recorded
/// machine.
class CalibrationOption {
 public:
  void declare(CLI::App& app);
  /// Throws Error(kBadInput) for a damaged file, and for a named file of another machine.
  analyzer::MachineFacts load(const trace::Trace& trace) const;

 private:
  std::string file_;
};

}  // namespace headway::cli
