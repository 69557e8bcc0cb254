// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace headway::trainer {

/// "block3" for "block3.qkv.weight"; empty for a name that belongs to no unit.
std::string unit_of_name(const std::string& name);

}  // namespace headway::trainer
