// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "collector/record/record.h"

namespace headway::record {

/// The environment variables through which NVTX and the CUDA driver in the recorded program and its
/// children find our library and the recorder.
class RecordedEnvironment {
 public:
  /// `preload`: the library is preloaded into every process, after the libraries that the user
  /// preloads.
  RecordedEnvironment(const std::filesystem::path& library, const std::string& session, bool nvtx,
                      const CudaOptions& cuda, bool preload);
  ~RecordedEnvironment();
  RecordedEnvironment(const RecordedEnvironment&) = delete;
  RecordedEnvironment& operator=(const RecordedEnvironment&) = delete;
  /// Makes Python programs run the hooks in `folder`; `level` is a level of RecordOptions::pytorch.
  void add_pytorch(const std::filesystem::path& folder, const std::string& level);
  /// Adds "NAME=value"; the name is one of Headway's.
  void add(const std::string& variable) { variables_.push_back(variable); }
  /// Makes NCCL report its operations to the library, unless another profiler plugin is set.
  void add_nccl_profiler(const std::filesystem::path& library);
  const std::vector<std::string>& variables() const { return variables_; }
  /// Sentences about other tools that the environment sets up, and which tool is used.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void add_preload(const std::filesystem::path& library, const std::string& session,
                   std::vector<std::string>& changes);

  std::vector<std::string> variables_;  ///< "NAME=value", in the order of add()
  std::vector<std::string> notes_;
  std::filesystem::path link_;  ///< to the library, beside the session's socket; empty: not needed
};

}  // namespace headway::record
