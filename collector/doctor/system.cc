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

#include "collector/record/clock.h"
#include "collector/record/launch.h"

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

std::string System::variable(const std::string& name) const {
  if (environment_) {
    auto found = environment_->find(name);
    return found == environment_->end() ? "" : found->second;
  }
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
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
    // Never unloaded: CUDA's libraries do not like it.
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

std::string System::tsc_trouble() const {
  std::string why_not;
  return record::tsc_is_safe(why_not) ? "" : why_not;
}

std::filesystem::path System::inject_library() const {
  return record::find_inject_library();
}

}  // namespace headway::doctor
