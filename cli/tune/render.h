// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/tune/search.h"
#include "cli/tune/vary.h"

namespace headway::tune {

/// What the output says beside the result.
struct RunFacts {
  std::vector<std::string> command;  ///< as it was given
  bool simulated = false;
  bool exact = false;
  int steps = 0;
  int repeat = 0;
  double budget_s = 0;
  int max_runs = 0;                       ///< 0: any number
  const VariedCommand* varied = nullptr;  ///< of a search among listed values
  bool per_sample = false;  ///< settings had other batches: steps stand for as many samples
};

std::string render_text(const Result& result, const RunFacts& facts);
/// The same as JSON, schema "headway.tune".
std::string render_json(const Result& result, const RunFacts& facts);

}  // namespace headway::tune
