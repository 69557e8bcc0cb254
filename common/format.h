// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/time.h"

namespace headway {

/// Three significant digits with the unit that fits: "840 ns", "12.3 µs", "4.56 ms", "1.20 s", "3
/// min 05 s".
std::string format_duration(DurationNs duration);
/// A point in time since the session start, to the microsecond: "12.345678 s".
std::string format_time(TimeNs time);
/// Decimal units (GB = 1e9), three significant digits: "512 B", "1.50 MB".
std::string format_bytes(std::int64_t bytes);
/// A count with narrow spaces between groups: "1 234 567" (U+202F), "842".
std::string format_count(std::int64_t count);
/// A share as a percentage: 0.1234 -> "12.3 %"; below 0.05 % but not zero -> "<0.1 %".
std::string format_percent(double ratio);
/// With a true minus (U+2212), but none before a value that rounds to zero: "1.5", "−68.2", "0.0".
std::string format_number(double value, int decimals = 1);
/// The same, always with a sign: "+1.5", "−68.2", "+0.0".
std::string format_signed(double value, int decimals = 1);
/// An amount that was added or saved: "+121 µs", "−1.28 ms", "±0".
std::string format_change(DurationNs change);
/// Puts a no-break space (U+00A0) between each number and its unit, for text whose lines are broken
/// later: "222 ms" stays together.
std::string keep_units(std::string_view text);

}  // namespace headway
