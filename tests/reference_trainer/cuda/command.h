// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/run_command.h"

namespace headway::test {

/// headway-train beside this program, with a tiny transformer; `environment` comes before it.
inline Outcome run_trainer(const std::string& environment, const std::string& arguments) {
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "headway-train";
  const std::string command = environment + " '" + program +
                              "' --model transformer --data generated --layers 1 "
                              "--heads 1 --features 8 --sequence 8 --batch 2 --eval off " +
                              arguments + "";
  return run_command(command);
}

inline void check(const Outcome& outcome, int status, const std::string& part) {
  CAPTURE(outcome.output);
  CHECK(outcome.status == status);
  CHECK(outcome.says(part));
}

/// The driver is its stand-in.
inline bool emulated() {
  const char* path = std::getenv("LD_LIBRARY_PATH");
  return path && std::string(path).find("targets/cuda") != std::string::npos;
}

}  // namespace headway::test
