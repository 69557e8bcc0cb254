// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace headway::analyzer {

/// A SARIF 2.1.0 log of one run (OASIS standard). Texts are plain and escaped here.
struct SarifRule {
  std::string id;     ///< "input-bound"
  std::string title;  ///< "Input-bound"
  std::string text;   ///< what it fires on
};

struct SarifResult {
  /// How the rule ended, as SARIF names it: kOpen is "cannot tell".
  enum class Kind : std::uint8_t { kFail, kPass, kOpen };
  std::size_t rule = 0;  ///< index into the rules
  Kind kind = Kind::kFail;
  std::string level = "warning";  ///< of kFail: "error", "warning" or "note"
  std::string message;
  std::string file;                 ///< where it belongs: the trace or the budget
  std::uint32_t line = 0;           ///< in that file; 0: none
  std::vector<std::string> events;  ///< names of ranges, kernels, calls to look at
  nlohmann::ordered_json properties = nlohmann::ordered_json::object();
};

std::string sarif_log(const std::string& tool_version, const std::vector<SarifRule>& rules,
                      const std::vector<SarifResult>& results,
                      const std::vector<std::string>& notifications);

}  // namespace headway::analyzer
