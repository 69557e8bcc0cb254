// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "analyzer/hardware/machine_facts.h"

namespace CLI {
class App;
}

namespace headway::cli {

/// `--calibration FILE`, else the one of this user where it is of the recorded machine.
class CalibrationOption {
 public:
  void declare(CLI::App& app);
  /// Throws Error(kBadInput) for a damaged file, and for one that was named and is of another machine.
  analyzer::MachineFacts load(const trace::Trace& trace) const;

 private:
  std::string file_;
};

}  // namespace headway::cli
