// SPDX-License-Identifier: MIT
#include "collector/doctor/system.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

#include "collector/record/launch.h"
#include "collector/record/messages/clock.h"

namespace headway::doctor {

std::string System::read(const std::string& path) const {
  std::ifstream in(at(path));
  std::string text((std::istreambuf_iterator<char>(in)), {});
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

bool System::exists(const std::string& path) const {
  std::error_code error;
  return std::filesystem::exists(at(path), error);
}

bool System::usable(const std::string& path) const {
  return ::access(at(path).c_str(), R_OK | W_OK) == 0;
}

std::vector<std::string> System::list(const std::string& folder) const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(at(folder), error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string System::resolve(const std::string& path) const {
  std::error_code error;
  const std::filesystem::path found = std::filesystem::canonical(at(path), error);
  if (error) return "";
  const std::filesystem::path root = std::filesystem::canonical(root_, error);
  return "/" + found.lexically_relative(root).string();
}

std::string System::variable(const std::string& name) const {
  if (environment_) {
    auto found = environment_->find(name);
    return found == environment_->end() ? "" : found->second;
  }
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

std::vector<std::string> System::variables() const {
  std::vector<std::string> names;
  if (environment_) {
    for (const auto& [name, value] : *environment_) names.push_back(name);
    return names;
  }
  for (char** one = environ; one && *one; ++one) {
    const std::string_view text = *one;
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

std::optional<System::Space> System::space(const std::string& path) const {
  struct statfs info {};
  if (::statfs(path.empty() ? "." : at(path).c_str(), &info) != 0) return std::nullopt;
  const auto block = static_cast<std::uint64_t>(info.f_bsize);
  return Space{info.f_blocks * block, info.f_bavail * block,
               static_cast<std::uint64_t>(info.f_type)};
}

std::optional<std::uint64_t> System::limit(int resource) const {
  rlimit value{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &value) != 0 ||
      value.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  return value.rlim_cur;
}

std::optional<System::Library> System::library(const std::vector<std::string>& names,
                                               const char* version_function) const {
  for (const std::string& name : names) {
    // Never unloaded: CUDA's libraries do not support it.
    void* handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!handle) continue;
    Library found{name, "", 0};
    if (void* function = ::dlsym(handle, version_function)) {
      reinterpret_cast<int (*)(int*)>(function)(&found.version);
      Dl_info info{};
      if (::dladdr(function, &info) != 0 && info.dli_fname) found.path = info.dli_fname;
    }
    return found;
  }
  return std::nullopt;
}

std::vector<System::NvLinks> System::nvlinks() const {
  std::vector<NvLinks> all;
  // Never unloaded, as above.
  void* handle = exists("/proc/driver/nvidia") ? ::dlopen("libnvidia-ml.so.1", RTLD_LAZY) : nullptr;
  if (!handle) return all;
  // nvml.h of CUDA 12; nvmlReturn_t and nvmlEnableState_t are ints, 0: success and 1: enabled.
  using Init = int (*)();
  using Count = int (*)(unsigned*);
  using Handle = int (*)(unsigned, void**);
  using LinkState = int (*)(void*, unsigned, int*);
  constexpr unsigned kMostLinks = 18;  // NVML_NVLINK_MAX_LINKS
  const auto init = reinterpret_cast<Init>(::dlsym(handle, "nvmlInit_v2"));
  const auto shutdown = reinterpret_cast<Init>(::dlsym(handle, "nvmlShutdown"));
  const auto get_count = reinterpret_cast<Count>(::dlsym(handle, "nvmlDeviceGetCount_v2"));
  const auto get = reinterpret_cast<Handle>(::dlsym(handle, "nvmlDeviceGetHandleByIndex_v2"));
  const auto state = reinterpret_cast<LinkState>(::dlsym(handle, "nvmlDeviceGetNvLinkState"));
  if (!init || !shutdown || !get_count || !get || !state || init() != 0) return all;
  unsigned count = 0;
  get_count(&count);
  for (unsigned i = 0; i < count; ++i) {
    NvLinks& links = all.emplace_back();
    void* device = nullptr;
    if (get(i, &device) != 0) continue;
    int is_active = 0;
    for (unsigned link = 0; link < kMostLinks; ++link)
      if (state(device, link, &is_active) == 0) ++(is_active == 1 ? links.active : links.inactive);
  }
  shutdown();
  return all;
}

std::string System::tsc_trouble() const {
  std::string why_not;
  return record::tsc_is_safe(why_not) ? "" : why_not;
}

std::filesystem::path System::inject_library() const {
  return record::find_inject_library();
}

}  // namespace headway::doctor
