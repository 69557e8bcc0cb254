// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/analysis.h"

namespace headway::analyzer {

/// The critical path in one sentence: "80 % compute, 12 % host (layer1.conv), …"; "" when there is none.
std::string critical_path_sentence(const Analysis& analysis);
/// The text section, at most eight lines; "" when there is none.
std::string critical_path_text(const trace::Trace& trace, const Analysis& analysis,
                               std::size_t width);
/// The `critical_path` section of `report --json`; keys: docs/reference/report-json.md.
nlohmann::ordered_json critical_path_json(const trace::Trace& trace, const Analysis& analysis);

}  // namespace headway::analyzer
