// SPDX-License-Identifier: MIT
#include "collector/record/recorded_environment.h"

#include <fmt/format.h>

#include <cstdlib>

#include "collector/record/launch.h"
#include "collector/wire/hello.h"
#include "common/text.h"

namespace headway::record {
namespace {

constexpr const char* kNvtx = "NVTX_INJECTION64_PATH";
constexpr const char* kCuda = "CUDA_INJECTION64_PATH";

/// Another tool's library in `variable`; empty when there is none, or it is ours.
std::string other_tool(const char* variable, const std::filesystem::path& ours) {
  const char* value = std::getenv(variable);
  if (!value || !*value) return "";
  bool same = std::filesystem::path(value).filename() == ours.filename();
  return same ? "" : value;
}

}  // namespace

RecordedEnvironment::RecordedEnvironment(const std::filesystem::path& library,
                                         const std::string& session, bool nvtx,
                                         const CudaOptions& cuda) {
  std::vector<std::string> changes = {fmt::format("{}={}", wire::kSessionVariable, session)};
  if (nvtx) {
    changes.push_back(fmt::format("{}={}", kNvtx, library.string()));
    if (std::string other = other_tool(kNvtx, library); !other.empty())
      notes_.push_back(fmt::format("{} was set to {}: for this run Headway takes its place", kNvtx,
                                   escape_terminal(other)));
  }
  // Two tools cannot share CUPTI, and the other one was asked for first.
  if (std::string other = other_tool(kCuda, library); cuda.on && !other.empty()) {
    notes_.push_back(fmt::format("{} is set to {}: it keeps its place, and CUDA is not recorded",
                                 kCuda, escape_terminal(other)));
  } else if (cuda.on) {
    changes.push_back(fmt::format("{}={}", kCuda, library.string()));
    if (cuda.whole_graphs) changes.push_back(fmt::format("{}=graph", wire::kCudaGraphVariable));
  }
  variables_ = environment_with(changes);
}

void RecordedEnvironment::add_pytorch(const std::filesystem::path& folder,
                                      const std::string& level) {
  // First, so that it is found before a sitecustomize of the user, which it then runs.
  std::string path = folder.string();
  if (const char* old = std::getenv("PYTHONPATH"); old && *old) path += fmt::format(":{}", old);
  std::erase_if(variables_, [](const std::string& entry) {
    return entry.starts_with("PYTHONPATH=") || entry.starts_with("HEADWAY_PYTORCH=");
  });
  variables_.push_back("PYTHONPATH=" + path);
  variables_.push_back("HEADWAY_PYTORCH=" + level);
}

}  // namespace headway::record
