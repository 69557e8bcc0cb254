// SPDX-License-Identifier: MIT
#include "collector/record/environment/git_commit.h"

#include <algorithm>
#include <fstream>

namespace headway::record {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  return line;
}

/// 40 digits of SHA-1 or 64 of SHA-256.
bool is_commit(const std::string& text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// The folder that holds HEAD. In a worktree and a submodule `.git` is a file that names it.
fs::path git_folder(fs::path folder) {
  std::error_code error;
  while (true) {
    const fs::path git = folder / ".git";
    if (fs::is_directory(git, error)) return git;
    if (fs::is_regular_file(git, error)) {
      const std::string line = first_line(git);
      constexpr std::string_view kPrefix = "gitdir: ";
      return line.starts_with(kPrefix) ? folder / line.substr(kPrefix.size()) : fs::path{};
    }
    if (!folder.has_relative_path()) return {};
    folder = folder.parent_path();
  }
}

/// Lines `COMMIT NAME`.
std::string in_packed_refs(const fs::path& file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t space = line.find(' ');
    if (space != std::string::npos && line.compare(space + 1, std::string::npos, name) == 0)
      return line.substr(0, space);
  }
  return {};
}

}  // namespace

std::string checked_out_commit(const fs::path& folder) {
  const fs::path git = git_folder(folder);
  if (git.empty()) return {};
  std::string head = first_line(git / "HEAD");
  constexpr std::string_view kPrefix = "ref: ";
  if (head.starts_with(kPrefix)) {
    const std::string name = head.substr(kPrefix.size());
    // Branches of a worktree lie in the repository that it belongs to.
    const std::string common = first_line(git / "commondir");
    const fs::path shared = common.empty() ? git : git / common;
    head = first_line(shared / name);
    if (!is_commit(head)) head = in_packed_refs(shared / "packed-refs", name);
  }
  return is_commit(head) ? head : std::string{};
}

}  // namespace headway::record
