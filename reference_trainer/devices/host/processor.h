// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace headway::trainer {

/// "AMD EPYC, oneDNN 2.6.3, loops avx2": what computes, for traces and the settings table.
std::string describe_processor();

/// Cores that this process may use (its CPU affinity).
int available_cores();

}  // namespace headway::trainer
