// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/tune/search.h"
#include "cli/tune/vary.h"

namespace headway::tune {

/// The facts that the output states in addition to the result.
struct RunFacts {
  std::vector<std::string> command;  ///< as given by the user
  bool simulated = false;
  bool exact = false;
  int steps = 0;
  int repeat = 0;
  double budget_s = 0;
  int max_runs = 0;                       ///< 0: any number
  const VariedCommand* varied = nullptr;  ///< set for a search among listed values
  bool per_sample = false;                ///< batch sizes differ: steps are scaled to equal samples
};

std::string render_text(const Result& result, const RunFacts& facts);
/// The same as JSON, schema "headway.tune".
std::string render_json(const Result& result, const RunFacts& facts);

}  // namespace headway::tune
