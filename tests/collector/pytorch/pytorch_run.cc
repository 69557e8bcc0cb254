// SPDX-License-Identifier: MIT
#include "tests/collector/pytorch/pytorch_run.h"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "common/shell_word.h"

namespace headway::test {

const std::string& python_with_torch() {
  static const std::string python = [] {
    const char* given = std::getenv("HEADWAY_TEST_PYTHON");
    for (std::string candidate :
         {given ? given : "/usr/bin/python3", "/usr/bin/python3", "python3"}) {
      std::string command = candidate + " -c 'import torch' >/dev/null 2>&1";
      if (std::system(command.c_str()) == 0) return candidate;
    }
    return std::string();
  }();
  return python;
}

std::vector<std::string> pytorch_program(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {python_with_torch(), "-W", "ignore",
                                      HEADWAY_SOURCE_DIR "/tests/targets/pytorch_train.py"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

Finished run_alone(const std::vector<std::string>& command) {
  TemporaryFolder folder;
  std::string line;
  for (const std::string& word : command) line += shell_word(word) + " ";
  line +=
      ">" + shell_word((folder / "out").string()) + " 2>" + shell_word((folder / "err").string());
  int status = std::system(line.c_str());
  auto content = [&](const char* name) {
    std::ifstream file(folder / name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content("out"), content("err")};
}

std::int64_t ranges_of_kind(const std::filesystem::path& trace, int kind,
                            const std::string& where) {
  return number(trace,
                "SELECT count(*) FROM HEADWAY_RANGE r JOIN NVTX_EVENTS e ON e.rowid=r.rangeRow "
                "JOIN StringIds s ON s.id=e.textId WHERE r.kind=" +
                    std::to_string(kind) + " AND e.end IS NOT NULL AND " + where);
}

nlohmann::json report_of(const std::filesystem::path& trace) {
  std::string json = trace.string() + ".json";
  std::string command = shell_word(program("headway")) + " report --json " +
                        shell_word(trace.string()) + " >" + shell_word(json);
  REQUIRE(std::system(command.c_str()) == 0);
  std::ifstream file(json);
  return nlohmann::json::parse(file);
}

}  // namespace headway::test
