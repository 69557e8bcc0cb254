// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace headway::analyzer {

/// A key of `report --json`. The reference page, the JSON Schema and the test that every report
/// keeps to it are made from this list; render_json writes the values.
struct JsonKey {
  std::string path;  ///< "steps.p50_ns", "findings[].rule", "partition[].classes.*.share"
  std::string type;  ///< "integer", or several: "number or null"; "any": not fixed
  std::string doc;   ///< one sentence
};

/// All keys in the order in which they are written.
std::vector<JsonKey> report_json_keys();

/// JSON Schema (draft 2020-12) of `report --json`. Every declared key is required; a reader must
/// accept keys that it does not know.
nlohmann::ordered_json report_json_schema();

}  // namespace headway::analyzer
