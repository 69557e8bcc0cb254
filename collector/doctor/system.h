// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headway::doctor {

/// What the checks ask the machine; tests override or redirect it. Any answer may be missing (empty
/// or nullopt). Only inject_library() throws.
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
  /// Whether this user may read and write the file.
  bool usable(const std::string& path) const;
  /// Names in a folder, sorted.
  std::vector<std::string> list(const std::string& folder) const;
  /// The final target of all links, as a path on this machine; empty when it does not exist.
  std::string resolve(const std::string& path) const;
  /// The value of an environment variable; empty when it is not set.
  std::string variable(const std::string& name) const;
  /// The names of all variables that are set.
  std::vector<std::string> variables() const;

  /// Sizes of the file system that holds a path, in bytes.
  struct Space {
    std::uint64_t size = 0;
    std::uint64_t free = 0;
    std::uint64_t type = 0;  ///< magic number of the file system (statfs)
  };
  /// nullopt when the path does not exist.
  virtual std::optional<Space> space(const std::string& path) const;
  /// Soft limit of a resource (RLIMIT_…); nullopt: no limit.
  virtual std::optional<std::uint64_t> limit(int resource) const;
  struct Library {
    std::string name;
    std::string path;
    int version = 0;  ///< from `version_function`; 0: unknown
  };
  /// The first of `names` that can be loaded; nullopt: none. `version_function` is the name of a
  /// function int(int*) in the library that writes its version.
  virtual std::optional<Library> library(const std::vector<std::string>& names,
                                         const char* version_function) const;
  /// Number of NVLinks of one GPU.
  struct NvLinks {
    int active = 0;
    int inactive = 0;
  };
  /// One entry per GPU, from NVML; empty without NVML or a GPU. Takes up to a second.
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
