// SPDX-License-Identifier: MIT
#include "collector/doctor/nccl_settings.h"

#include <sstream>

namespace headway::doctor {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Adds the lines "NCCL_DEBUG=WARN" of a file; comments start with '#'. Settings that exist already stay,
/// so the environment has priority, then the first line with a name.
void add_file(const System& system, const std::string& path,
              std::map<std::string, NcclSetting>& settings) {
  if (path.empty() || path.front() != '/') return;
  std::istringstream lines(system.read(path));
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find('#'));
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = trimmed(line.substr(0, equals));
    if (name.starts_with("NCCL_"))
      settings.emplace(name, NcclSetting{trimmed(line.substr(equals + 1)), path});
  }
}

}  // namespace

std::map<std::string, NcclSetting> nccl_settings(const System& system) {
  std::map<std::string, NcclSetting> settings;
  for (const std::string& name : system.variables())
    if (name.starts_with("NCCL_")) settings[name] = {system.variable(name), "the environment"};
  std::string users = system.variable("NCCL_CONF_FILE");
  if (users.empty() && !system.variable("HOME").empty())
    users = system.variable("HOME") + "/.nccl.conf";
  add_file(system, users, settings);
  add_file(system, "/etc/nccl.conf", settings);
  return settings;
}

bool may_use_port(const std::string& ib_hca, const std::string& adapter, const std::string& port) {
  std::string list = ib_hca;
  auto take = [&](char mark) {
    if (!list.starts_with(mark)) return false;
    list.erase(0, 1);
    return true;
  };
  const bool excludes = take('^');
  const bool exact = take('=');
  if (list.empty()) return true;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t colon = part.find(':');
    const std::string name = part.substr(0, colon);
    const bool named = exact ? adapter == name : adapter.starts_with(name);
    if (named && (colon == std::string::npos || part.substr(colon + 1) == port)) return !excludes;
  }
  return excludes;
}

std::string nccl_setting(const System& system, const std::string& name) {
  const std::map<std::string, NcclSetting> all = nccl_settings(system);
  const auto found = all.find(name);
  return found == all.end() ? "" : found->second.value;
}

}  // namespace headway::doctor
