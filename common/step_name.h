// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace headway {

/// True for names of ranges that mean a training step: "step", "ProfilerStep#7", "train_iteration
/// 3". The recorder counts by them, the analyzer finds steps by them.
bool means_step(std::string_view name);

/// The number that a name ends with, "step 12" -> 12; -1 when there is none.
std::int64_t trailing_number(std::string_view name);

}  // namespace headway
