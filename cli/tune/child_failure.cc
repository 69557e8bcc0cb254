// SPDX-License-Identifier: MIT
#include "cli/tune/child_failure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "cli/tune/change.h"
#include "cli/tune/runs.h"
#include "common/error.h"

namespace headway::tune {

std::string last_lines(const std::string& text, std::size_t count) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    line = line.substr(line.rfind('\r') + 1);  // keeps what was printed last over a progress line
    if (!line.empty()) lines.push_back(line);
  }
  std::string result;
  for (std::size_t i = lines.size() > count ? lines.size() - count : 0; i < lines.size(); ++i)
    result += (result.empty() ? "" : " | ") + lines[i];
  return result.empty() ? "(it wrote nothing to its standard error)" : result;
}

std::string ending_text(const ChildResult& result) {
  constexpr int kSignals = 128;
  return result.status > kSignals ? fmt::format("signal {}", result.status - kSignals)
                                  : fmt::format("exit status {}", result.status);
}

void check_status(const ChildResult& result, const std::vector<std::string>& command) {
  if (result.status == 0) return;
  throw RunFailed(fmt::format("{} ended with status {}: {}", shell_line(command), result.status,
                              last_lines(result.err)));
}

std::string make_temporary_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "headway-tune-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    fail_internal("{}: cannot create a folder: {}.", name, system_error_text(errno));
  return name;
}

}  // namespace headway::tune
