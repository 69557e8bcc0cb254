// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/doctor/system.h"
#include "tests/support/temporary_folder.h"

namespace headway::doctor::test {

using headway::test::TemporaryFolder;
using Environment = std::map<std::string, std::string>;

struct Files {
  TemporaryFolder files;
};

/// A machine of files, variables and answers that a test makes up.
struct MadeUp final : Files, System {
  explicit MadeUp(Environment environment = {}) : System(files.path(), std::move(environment)) {}

  void write(const std::string& path, const std::string& text) {
    std::filesystem::path file = files.path() / path.substr(1);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  std::optional<Space> space(const std::string& path) const override {
    auto found = spaces.find(path);
    if (found == spaces.end()) return std::nullopt;
    return found->second;
  }
  std::optional<std::uint64_t> limit(int resource) const override {
    auto found = limits.find(resource);
    if (found == limits.end()) return std::nullopt;
    return found->second;
  }
  std::optional<Library> library(const std::vector<std::string>& names,
                                 const char*) const override {
    for (const std::string& name : names) {
      auto found = libraries.find(name);
      if (found != libraries.end()) return Library{name, "/lib/" + name, found->second};
    }
    return std::nullopt;
  }
  std::string tsc_trouble() const override { return clock_trouble; }
  std::vector<NvLinks> nvlinks() const override { return links; }

  /// A link to another path of the machine.
  void link(const std::string& path, const std::string& to) {
    const std::filesystem::path at = files.path() / path.substr(1);
    std::filesystem::create_directories(at.parent_path());
    std::filesystem::create_directories(files.path() / to.substr(1));
    std::filesystem::create_directory_symlink(
        std::filesystem::relative(files.path() / to.substr(1), at.parent_path()), at);
  }
  void remove(const std::string& path) {
    std::filesystem::remove_all(files.path() / path.substr(1));
  }

  std::map<std::string, Space> spaces;
  std::map<int, std::uint64_t> limits;
  std::map<std::string, int> libraries;
  std::string clock_trouble;
  std::vector<NvLinks> links;
};

}  // namespace headway::doctor::test
