// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace headway::test {

struct Outcome {
  int status = -1;
  std::string output;
};

/// headway-train beside this program, with a tiny transformer; `environment` comes before it.
inline Outcome run_trainer(const std::string& environment, const std::string& arguments) {
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "headway-train";
  const std::string command = environment + " '" + program +
                              "' --model transformer --data generated --layers 1 "
                              "--heads 1 --features 8 --sequence 8 --batch 2 --eval off " +
                              arguments + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Outcome outcome;
  char block[4096];
  while (std::size_t got = std::fread(block, 1, sizeof block, pipe))
    outcome.output.append(block, got);
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

inline void check(const Outcome& outcome, int status, const std::string& part) {
  CAPTURE(outcome.output);
  CHECK(outcome.status == status);
  CHECK(outcome.output.find(part) != std::string::npos);
}

/// The driver is its stand-in.
inline bool emulated() {
  const char* path = std::getenv("LD_LIBRARY_PATH");
  return path && std::string(path).find("targets/cuda") != std::string::npos;
}

}  // namespace headway::test
