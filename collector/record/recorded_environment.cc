// SPDX-License-Identifier: MIT
#include "collector/record/recorded_environment.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <system_error>

#include "collector/record/launch.h"
#include "collector/wire/hello.h"
#include "common/text.h"

namespace headway::record {
namespace {

constexpr const char* kNvtx = "NVTX_INJECTION64_PATH";
constexpr const char* kCuda = "CUDA_INJECTION64_PATH";
constexpr const char* kPreload = "LD_PRELOAD";
/// The separators of libraries in LD_PRELOAD, which has no quotes.
constexpr std::string_view kSeparators = " :\t\n";

/// The library of another tool in `variable`; empty when there is none, or when it is ours.
std::string other_tool(const char* variable, const std::filesystem::path& ours) {
  const char* value = std::getenv(variable);
  if (!value || !*value) return "";
  std::string name = std::filesystem::path(value).filename().string();
  bool same = name == ours.filename() || name.starts_with("libheadway_");
  return same ? "" : value;
}

}  // namespace

RecordedEnvironment::RecordedEnvironment(const std::filesystem::path& library,
                                         const std::string& session, bool nvtx,
                                         const CudaOptions& cuda, bool preload) {
  std::vector<std::string> changes = {fmt::format("{}={}", wire::kSessionVariable, session)};
  if (nvtx) {
    changes.push_back(fmt::format("{}={}", kNvtx, library.string()));
    if (std::string other = other_tool(kNvtx, library); !other.empty())
      notes_.push_back(fmt::format("{} was set to {}: Headway replaces it for this run", kNvtx,
                                   escape_terminal(other)));
  }
  // Two tools cannot share CUPTI, and the user has set up the other one.
  if (std::string other = other_tool(kCuda, library); cuda.on && !other.empty()) {
    notes_.push_back(fmt::format("{} is set to {}: it stays active, and CUDA is not recorded",
                                 kCuda, escape_terminal(other)));
  } else if (cuda.on) {
    changes.push_back(fmt::format("{}={}", kCuda, library.string()));
    if (cuda.whole_graphs) changes.push_back(fmt::format("{}=graph", wire::kCudaGraphVariable));
    std::string more;
    if (cuda.memory) more += fmt::format(" {}", wire::kMemoryWord);
    if (cuda.latency) more += fmt::format(" {}", wire::kLatencyWord);
    if (cuda.pauses) more += fmt::format(" {}", wire::kPausesWord);
    if (cuda.environment) more += fmt::format(" {}", wire::kEnvironmentWord);
    if (!more.empty())
      changes.push_back(fmt::format("{}={}", wire::kCudaMoreVariable, more.substr(1)));
  }
  if (preload) add_preload(library, session, changes);
  variables_ = environment_with(changes);
}

void RecordedEnvironment::add_pytorch(const std::filesystem::path& folder,
                                      const std::string& level) {
  // The folder comes first, so that our sitecustomize is found before the user's, which ours then
  // runs.
  std::string path = folder.string();
  if (const char* old = std::getenv("PYTHONPATH"); old && *old) path += fmt::format(":{}", old);
  std::erase_if(variables_, [](const std::string& entry) {
    return entry.starts_with("PYTHONPATH=") || entry.starts_with("HEADWAY_PYTORCH=");
  });
  variables_.push_back("PYTHONPATH=" + path);
  variables_.push_back("HEADWAY_PYTORCH=" + level);
}

void RecordedEnvironment::add_nccl_profiler(const std::filesystem::path& library) {
  constexpr std::string_view kPlugin = "NCCL_PROFILER_PLUGIN";
  const char* other = std::getenv(kPlugin.data());
  if (other && *other) {
    notes_.push_back(fmt::format("{} is set to {}: it stays active, and --nccl-profiler is off",
                                 kPlugin, escape_terminal(other)));
    return;
  }
  variables_.push_back(fmt::format("{}={}", kPlugin, library.string()));
}

RecordedEnvironment::~RecordedEnvironment() {
  std::error_code ignored;
  if (!link_.empty()) std::filesystem::remove(link_, ignored);
}

void RecordedEnvironment::add_preload(const std::filesystem::path& library,
                                      const std::string& session,
                                      std::vector<std::string>& changes) {
  std::filesystem::path path = library;
  if (path.string().find_first_of(kSeparators) != std::string::npos) {
    link_ = std::filesystem::path(session).parent_path() / library.filename();
    std::error_code error;
    std::filesystem::create_symlink(library, link_, error);
    if (error || link_.string().find_first_of(kSeparators) != std::string::npos) {
      notes_.push_back(fmt::format(
          "--io: cannot preload {}, because its path contains a space or colon: file calls are not "
          "recorded. Set TMPDIR to a folder without them, or install Headway elsewhere",
          escape_terminal(library.string())));
      return;
    }
    path = link_;
  }
  // After the user's own libraries: they see the calls first and pass them on to ours.
  const char* before = std::getenv(kPreload);
  bool any = before && *before;
  changes.push_back(
      fmt::format("{}={}{}{}", kPreload, any ? before : "", any ? ":" : "", path.string()));
}

}  // namespace headway::record
