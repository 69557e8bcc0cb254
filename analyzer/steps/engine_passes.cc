// SPDX-License-Identifier: MIT
#include "analyzer/steps/engine_passes.h"

#include <algorithm>
#include <array>

namespace headway::analyzer {

bool means_pass(std::string_view name) {
  static constexpr auto kPrefixes = std::to_array<std::string_view>(
      {"step[", "execute_model", "execute_context_", "execute_new_", "TensorRT:ExecutionContext"});
  if (std::any_of(kPrefixes.begin(), kPrefixes.end(),
                  [&](std::string_view prefix) { return name.starts_with(prefix); }))
    return true;
  // "execute_15360_context_15(…)_generation_0(…)": sizes of the batch stand between the words.
  return name.starts_with("execute_") && name.find("context_") != std::string_view::npos &&
         name.find("generation_") != std::string_view::npos;
}

std::string_view word_of_pass(std::string_view name) {
  return name.substr(0, name.find_first_of("_[:"));
}

}  // namespace headway::analyzer
