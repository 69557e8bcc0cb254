// SPDX-License-Identifier: MIT
#include "common/format.h"

#include <doctest/doctest.h>

namespace headway {

TEST_CASE("durations show three significant digits in the unit that fits") {
  CHECK(format_duration({0}) == "0 ns");
  CHECK(format_duration({840}) == "840 ns");
  CHECK(format_duration({12345}) == "12.3 µs");
  CHECK(format_duration({999'499}) == "999 µs");
  CHECK(format_duration({999'500}) == "1.00 ms");
  CHECK(format_duration({1'204'000'000}) == "1.20 s");
  CHECK(format_duration({185'000'000'000}) == "3 min 05 s");
  CHECK(format_duration({7'260'000'000'000}) == "2 h 01 min");
  CHECK(format_duration({-12345}) == "−12.3 µs");
}

TEST_CASE("what changed has its sign, and zero has none") {
  CHECK(format_change({121'000}) == "+121 µs");
  CHECK(format_change({-1'280'000}) == "−1.28 ms");
  CHECK(format_change({0}) == "±0");
  CHECK(format_duration({INT64_MIN}) == format_duration({-INT64_MAX}));
  CHECK(format_number(-1.46) == "−1.5");
  CHECK(format_number(-0.04) == "0.0");
  CHECK(format_signed(1.46) == "+1.5");
  CHECK(format_signed(-68.21) == "−68.2");
  CHECK(format_signed(-0.04) == "+0.0");
  CHECK(format_signed(-0.04, 2) == "−0.04");
}

TEST_CASE("a number stays on the line of its unit, and on no other word's") {
  CHECK(keep_units("222 ms of 1.5 s") == "222\u00a0ms of 1.5\u00a0s");
  CHECK(keep_units("−68.2 %, 3 min 05 s.") == "−68.2\u00a0%, 3\u00a0min 05\u00a0s.");
  CHECK(keep_units("4 steps, 8 buckets, 2 hours") == "4 steps, 8 buckets, 2 hours");
  CHECK(keep_units("layer 4 s_norm, rank 2 sürprise") == "layer 4 s_norm, rank 2 sürprise");
  CHECK(keep_units(" s 5 ") == " s 5 ");
  CHECK(keep_units("").empty());
}

TEST_CASE("points in time are shown to the microsecond") {
  CHECK(format_time({12'345'678'901}) == "12.345678 s");
  CHECK(format_time({-1'500'000}) == "-0.001500 s");
}

TEST_CASE("bytes use decimal units") {
  CHECK(format_bytes(512) == "512 B");
  CHECK(format_bytes(1500) == "1.50 kB");
  CHECK(format_bytes(25'000'000) == "25.0 MB");
  CHECK(format_bytes(999'600) == "1.00 MB");
}

TEST_CASE("counts are grouped by thousands") {
  CHECK(format_count(842) == "842");
  CHECK(format_count(1234567) == "1\u202f234\u202f567");
  CHECK(format_count(-1234) == "-1\u202f234");
}

TEST_CASE("a share that is not zero never shows as zero") {
  CHECK(format_percent(0.1234) == "12.3 %");
  CHECK(format_percent(0) == "0.0 %");
  CHECK(format_percent(0.0001) == "<0.1 %");
}

}  // namespace headway
