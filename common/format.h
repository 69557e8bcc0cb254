// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "common/time.h"

namespace headway {

/// Three significant digits with the unit that fits: "840 ns", "12.3 µs", "4.56 ms", "1.20 s", "3
/// min 05 s".
std::string format_duration(DurationNs duration);
/// A point in time since the session start, to the microsecond: "12.345678 s".
std::string format_time(TimeNs time);
/// Decimal units (GB = 1e9), three significant digits: "512 B", "1.50 MB".
std::string format_bytes(std::int64_t bytes);
/// A count with thin grouping: "1 234 567" (U+202F between groups), "842".
std::string format_count(std::int64_t count);
/// A share as a percentage: 0.1234 -> "12.3 %"; below 0.05 % but not zero -> "<0.1 %".
std::string format_percent(double ratio);

}  // namespace headway
