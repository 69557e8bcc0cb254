// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace headway::test {

/// What became of a command.
struct Outcome {
  int status = -1;     ///< exit code; 128 and the signal's number where one ended it
  std::string output;  ///< of both streams
  bool says(const std::string& part) const { return output.find(part) != std::string::npos; }
};

/// Runs a line of the shell to its end.
inline Outcome run_command(const std::string& line) {
  std::FILE* pipe = popen((line + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  Outcome outcome;
  char block[4096];
  while (std::size_t got = std::fread(block, 1, sizeof block, pipe))
    outcome.output.append(block, got);
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

/// The output has `part`; else the test shows all of it.
inline void check_contains(const Outcome& outcome, const std::string& part) {
  CAPTURE(outcome.output);
  CHECK(outcome.says(part));
}

}  // namespace headway::test
