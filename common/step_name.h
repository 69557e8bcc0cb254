// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace headway {

/// True if a range of this name is a training step: "step", "ProfilerStep#7", "train_iteration 3".
/// The recorder counts steps with it; the analyzer finds steps with it.
bool means_step(std::string_view name);

/// The number at the end of a name, "step 12" -> 12; -1 when there is none.
std::int64_t trailing_number(std::string_view name);

}  // namespace headway
