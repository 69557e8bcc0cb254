// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headway::doctor {

/// The machine as the checks see it. Every answer may be missing; only inject_library() throws.
class System {
 public:
  /// `root` replaces "/"; without `environment`, this process's environment is used.
  explicit System(std::filesystem::path root = "/",
                  std::optional<std::map<std::string, std::string>> environment = std::nullopt)
      : root_(std::move(root)), environment_(std::move(environment)) {}
  virtual ~System() = default;

  /// The content of a file without its last line break; empty when it cannot be read.
  std::string read(const std::string& path) const;
  bool exists(const std::string& path) const;
  /// Whether this user may read and write it.
  bool usable(const std::string& path) const;
  /// Names in a folder, sorted.
  std::vector<std::string> list(const std::string& folder) const;
  /// The final target of all links, as a path on this machine; empty when it does not exist.
  std::string resolve(const std::string& path) const;
  /// The value of an environment variable; empty when it is not set.
  std::string variable(const std::string& name) const;
  /// The names of all variables that are set.
  std::vector<std::string> variables() const;

  /// Size of a file system in bytes; nullopt when the path does not exist.
  struct Space {
    std::uint64_t size = 0;
    std::uint64_t free = 0;
    std::uint64_t type = 0;  ///< its magic number (statfs)
  };
  virtual std::optional<Space> space(const std::string& path) const;
  /// Soft limit of a resource (RLIMIT_…); nullopt: none.
  virtual std::optional<std::uint64_t> limit(int resource) const;
  /// Whether a library can be loaded, and the number that `version_function` (int f(int*)) gives.
  struct Library {
    std::string name;
    std::string path;
    int version = 0;
  };
  virtual std::optional<Library> library(const std::vector<std::string>& names,
                                         const char* version_function) const;
  /// NVLinks of each GPU, from NVML, which takes up to a second; empty when there is no NVML or no
  /// GPU.
  struct NvLinks {
    int active = 0;
    int inactive = 0;
  };
  virtual std::vector<NvLinks> nvlinks() const;
  /// Why the time-stamp counter cannot be trusted; empty when it can.
  virtual std::string tsc_trouble() const;
  /// Path of the injected library; throws Error when it is missing.
  virtual std::filesystem::path inject_library() const;

 private:
  std::filesystem::path at(const std::string& path) const { return root_ / path.substr(1); }
  std::filesystem::path root_;
  std::optional<std::map<std::string, std::string>> environment_;
};

}  // namespace headway::doctor
