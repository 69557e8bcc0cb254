// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace headway::analyzer {

/// True for names that inference engines give one pass of the model: vLLM's
/// "execute_context_1(…)_generation_0(…)", SGLang's "step[DECODE bs=32]".
bool means_pass(std::string_view name);

/// The part of such a name that all passes share: what follows is the batch, which changes.
std::string_view word_of_pass(std::string_view name);

}  // namespace headway::analyzer
