// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collector/doctor/system.h"

namespace headway::doctor {

enum class Status : std::uint8_t {
  kOk,
  kNote,     ///< missing, which is fine where it is not needed
  kWarning,  ///< works, but slower or with less information
  kProblem,  ///< does not work
};
std::string_view status_name(Status status);

struct Finding {
  Status status = Status::kOk;
  std::string text;    ///< what was found
  std::string remedy;  ///< for a warning or a problem
};

struct Check {
  std::string_view id;
  std::string_view title;
  Finding (*run)(const System& system);
};

/// All checks in the order in which they are printed.
std::span<const Check> all_checks();

struct Checked {
  const Check* check = nullptr;
  Finding finding;
};
/// Runs all checks. A check that throws gives a finding of kProblem with the error.
std::vector<Checked> run_checks(const System& system);

}  // namespace headway::doctor
