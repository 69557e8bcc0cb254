// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "collector/record/record.h"

namespace headway::record {

/// The environment of the recorded program: how NVTX, the CUDA driver and their children find our
/// library and the recorder.
class RecordedEnvironment {
 public:
  /// `preload`: the library goes into every process that starts, behind those that the user preloads.
  RecordedEnvironment(const std::filesystem::path& library, const std::string& session, bool nvtx,
                      const CudaOptions& cuda, bool preload);
  ~RecordedEnvironment();
  RecordedEnvironment(const RecordedEnvironment&) = delete;
  RecordedEnvironment& operator=(const RecordedEnvironment&) = delete;
  /// Python programs run the hooks of `folder`, at this level of RecordOptions::pytorch.
  void add_pytorch(const std::filesystem::path& folder, const std::string& level);
  /// "NAME=value", of a name of ours.
  void add(const std::string& variable) { variables_.push_back(variable); }
  /// NCCL tells the library about its operations, unless another plugin is set.
  void add_nccl_profiler(const std::filesystem::path& library);
  const std::vector<std::string>& variables() const { return variables_; }
  /// Sentences about other tools that the user has set up there, and who wins.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void add_preload(const std::filesystem::path& library, const std::string& session,
                   std::vector<std::string>& changes);

  std::vector<std::string> variables_;  ///< "NAME=value", in the order of add()
  std::vector<std::string> notes_;
  std::filesystem::path link_;  ///< beside the session's socket; empty when none was needed
};

}  // namespace headway::record
