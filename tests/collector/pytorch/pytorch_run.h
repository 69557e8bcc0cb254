// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/collector/run_recorder.h"

namespace headway::test {

/// A Python that can import torch, or empty: then the case is skipped, and says why.
const std::string& python_with_torch();

/// The command for a program of tests/targets/pytorch_train.py.
std::vector<std::string> pytorch_program(const std::vector<std::string>& arguments);

/// Runs it without Headway.
Finished run_alone(const std::vector<std::string>& command);

/// `headway report --json` of it.
nlohmann::json report_of(const std::filesystem::path& trace);

/// Ranges of a kind (RangeKind), and with `where` those for which the condition holds; `r` is
/// HEADWAY_RANGE, `e` NVTX_EVENTS, `s.value` the name.
std::int64_t ranges_of_kind(const std::filesystem::path& trace, int kind,
                            const std::string& where = "1");

}  // namespace headway::test

/// Ends a case where PyTorch is missing.
#define HEADWAY_NEEDS_TORCH()                                                         \
  if (headway::test::python_with_torch().empty()) {                                   \
    MESSAGE("[skipped] no Python here imports torch: apt-get install python3-torch"); \
    return;                                                                           \
  }                                                                                   \
  static_assert(true)
