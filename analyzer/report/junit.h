// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace headway::analyzer {

/// JUnit XML as CI systems read it (the common subset of Jenkins, GitLab, GitHub actions and Azure).
/// All texts are escaped here; there are no times, so that the bytes stay the same.
struct JunitCase {
  enum class Outcome : std::uint8_t { kPassed, kFailed, kSkipped };
  std::string classname;  ///< "headway.finding"
  std::string name;       ///< "input-bound"
  Outcome outcome = Outcome::kPassed;
  std::string message;  ///< one line; of a passed case it becomes its output
  std::string details;  ///< lines for people; may be empty
};

std::string junit_xml(const std::string& suite,
                      const std::vector<std::pair<std::string, std::string>>& properties,
                      const std::vector<JunitCase>& cases);

}  // namespace headway::analyzer
