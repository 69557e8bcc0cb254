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
  kNote,     ///< not there, and that is fine where it is not needed
  kWarning,  ///< works, but slower or with less to see
  kProblem,  ///< does not work
};
std::string_view status_name(Status status);

struct Finding {
  Status status = Status::kOk;
  std::string text;    ///< what was found
  std::string remedy;  ///< of a warning or a problem
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
/// A check that fails itself is a problem that says so.
std::vector<Checked> run_checks(const System& system);

}  // namespace headway::doctor
