// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace headway::trainer {

/// "block3" of "block3.qkv.weight"; empty for what belongs to no unit.
std::string unit_of_name(const std::string& name);

}  // namespace headway::trainer
