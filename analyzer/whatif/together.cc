// SPDX-License-Identifier: MIT
#include "analyzer/whatif/together.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headway::analyzer {

Together together(std::span<const ProposedFix> fixes) {
  Together all;
  for (const ProposedFix& one : fixes) {
    if (!one.proposal->applies) {
      all.missing = fmt::format("{} does not apply: {}", one.fix->id, one.proposal->text);
      return all;
    }
    if (one.proposal->scenario.work != 1 && fixes.size() > 1) {
      all.missing =
          fmt::format("{} changes the batch, and its step is per recorded batch: ask for it alone",
                      one.fix->id);
      return all;
    }
  }
  for (const ProposedFix& one : fixes) {
    for (Scenario& other : all.otherwise) other = other.with(one.proposal->scenario);
    for (const Scenario& other : one.proposal->otherwise)
      all.otherwise.push_back(fixes.size() == 1 ? other : all.scenario.with(other));
    all.scenario = fixes.size() == 1 ? one.proposal->scenario
                                     : std::exchange(all.scenario, {}).with(one.proposal->scenario);
    all.model_error = std::max(all.model_error, one.fix->model_error);
  }
  return all;
}

}  // namespace headway::analyzer
