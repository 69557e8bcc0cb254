// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace headway::trainer {

/// "AMD EPYC, oneDNN 2.6.3, loops avx2": describes the processor and its libraries, for traces and
/// the settings table.
std::string describe_processor();

/// Largest weight of oneDNN's integer products (DeviceInfo::most_int8_weight): without VNNI, two
/// products are summed in 16 bits.
int most_int8_weight();

/// Cores that this process may use (its CPU affinity).
int available_cores();

}  // namespace headway::trainer
