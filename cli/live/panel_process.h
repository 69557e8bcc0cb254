// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "analyzer/steps/steps.h"
#include "common/time.h"

namespace headway::cli::live {

/// The panel of `headway run --live` as a separate process: it uses none of the recorder's time, is
/// no child of the recorder that would be recorded or waited for, and restores the terminal when
/// the recorder is killed. This process restores the terminal when the panel dies.
class PanelProcess {
 public:
  /// Starts the panel. Call before the first thread is made and before descendants are adopted.
  /// `seconds`: time between two refreshes; 0: the default.
  explicit PanelProcess(double seconds, const analyzer::StepOptions& steps);
  ~PanelProcess();
  PanelProcess(const PanelProcess&) = delete;
  PanelProcess& operator=(const PanelProcess&) = delete;

  /// Call when the recording has begun: the panel follows its trace.
  void follow(const std::filesystem::path& file);
  /// Removes the panel. Returns once the terminal is restored.
  void close();
  /// Processor time of the panel process, known after close(); 0: not known.
  DurationNs cpu_time() const { return cpu_; }

 private:
  int to_ = -1;    ///< pipe to the panel: the file name of the trace; end of file means that the
                   ///< run is over
  int from_ = -1;  ///< pipe from the panel: its state and its processor time
  DurationNs cpu_;
};

}  // namespace headway::cli::live
