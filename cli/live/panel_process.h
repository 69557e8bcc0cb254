// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "analyzer/steps/steps.h"
#include "common/time.h"

namespace headway::cli::live {

/// The panel of `headway run --live`, in a process of its own: it takes nothing from the recorder, is
/// no child of it that would be recorded or waited for, and restores the terminal when the recorder
/// is killed. This process restores it when that one dies.
class PanelProcess {
 public:
  /// Starts it, before the first thread and before descendants are adopted. `seconds`: between two
  /// refreshes, 0: as usual.
  explicit PanelProcess(double seconds, const analyzer::StepOptions& steps);
  ~PanelProcess();
  PanelProcess(const PanelProcess&) = delete;
  PanelProcess& operator=(const PanelProcess&) = delete;

  /// The recording has begun: follow its trace.
  void follow(const std::filesystem::path& file);
  /// Takes the panel away. Returns once the terminal is as it was.
  void close();
  /// Processor time that it took, once closed; 0: not known.
  DurationNs cpu_time() const { return cpu_; }

 private:
  int to_ = -1;    ///< the trace's name; its end says that the run is over
  int from_ = -1;  ///< what it took
  DurationNs cpu_;
};

}  // namespace headway::cli::live
