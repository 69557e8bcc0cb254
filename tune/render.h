// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "tune/search.h"

namespace headway::tune {

/// What the output says beside the result.
struct RunFacts {
  std::vector<std::string> command;  ///< as it was given
  bool simulated = false;
  bool exact = false;
  int steps = 0;
  int repeat = 0;
  double budget_s = 0;
};

std::string render_text(const Result& result, const RunFacts& facts);
/// The same as JSON, schema "headway.tune".
std::string render_json(const Result& result, const RunFacts& facts);

}  // namespace headway::tune
