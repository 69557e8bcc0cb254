// SPDX-License-Identifier: MIT
// From the trainer's times to latency and bandwidth.
#include <doctest/doctest.h>

#include "cli/calibrate/collective_line.h"
#include "cli/commands/measured_collectives.h"
#include "common/error.h"

namespace headway {
namespace {

/// 40 µs and 2 GB/s, from 1 KiB to 16 MiB.
std::vector<calibrate::SizeTimes> exact() {
  std::vector<calibrate::SizeTimes> sizes;
  for (std::int64_t bytes = 1 << 10; bytes <= 16 << 20; bytes *= 4) {
    const double ns = 40'000 + static_cast<double>(bytes) / 2;
    sizes.push_back({bytes, {ns * 0.99, ns, ns * 3}});
  }
  return sizes;
}

}  // namespace

TEST_CASE("latency and bandwidth of a collective come back from times on a line") {
  const MeasuredCollective line = calibrate::fit_line(exact());
  CHECK(line.latency_ns == doctest::Approx(40'000));
  CHECK(line.bytes_per_s == doctest::Approx(2e9));
  CHECK(line.deviation < 1e-9);
  CHECK(line.least_bytes == 1 << 10);
  CHECK(line.most_bytes == 16 << 20);
  CHECK(line.samples == 24);
}

TEST_CASE("a size that is off the line moves it little, and shows in the deviation only as one") {
  auto sizes = exact();
  for (double& ns : sizes[3].ns) ns *= 2;
  const MeasuredCollective line = calibrate::fit_line(sizes);
  CHECK(line.latency_ns == doctest::Approx(40'000).epsilon(0.05));
  CHECK(line.bytes_per_s == doctest::Approx(2e9).epsilon(0.02));
  CHECK(line.deviation < 0.05);
}

TEST_CASE("neither latency nor the time of a byte is below 0") {
  const MeasuredCollective no_latency =
      calibrate::fit_line({{1'000, {1'000}}, {2'000, {2'500}}, {4'000, {6'000}}});
  CHECK(no_latency.latency_ns == 0);
  CHECK(no_latency.bytes_per_s > 0);
  const MeasuredCollective no_bytes = calibrate::fit_line({{1'000, {3'000}}, {2'000, {2'000}}});
  CHECK(no_bytes.latency_ns > 2'000);
  CHECK(no_bytes.latency_ns < 3'000);
  CHECK(no_bytes.bytes_per_s >= 1e12);
}

TEST_CASE("one size tells no line") {
  CHECK_THROWS_WITH_AS(calibrate::fit_line({{1'000, {3'000}}, {1'000, {2'000}}, {9'000, {}}}),
                       doctest::Contains("two"), Error);
}

TEST_CASE("as many ranks as there are processors are measured, and half of them, and so on") {
  CHECK(cli::measured_ranks(1) == std::vector<int>{});
  CHECK(cli::measured_ranks(2) == std::vector<int>{2});
  CHECK(cli::measured_ranks(12) == std::vector<int>{2, 4, 8, 12});
  CHECK(cli::measured_ranks(256) == std::vector<int>{2, 4, 8, 16, 32, 64});
}

TEST_CASE("what the trainer prints is read, and anything else refused") {
  const auto read = cli::read_collectives(
      R"({"schema": "headway.collectives", "version": 1, "backend": "shm", "ranks": 4, "kinds":
          {"allgather": [{"bytes": 1000, "ns": [3000]}, {"bytes": 3000, "ns": [5000, 5000]}]}})",
      "trainer");
  REQUIRE(read.size() == 1);
  CHECK(read[0].backend == "shm");
  CHECK(read[0].kind == "allgather");
  CHECK(read[0].ranks == 4);
  CHECK(read[0].latency_ns == doctest::Approx(2'000));
  CHECK(read[0].bytes_per_s == doctest::Approx(1e9));
  CHECK_THROWS_WITH_AS(
      cli::read_collectives("ranks?", "trainer"),
      doctest::Contains("trainer: --measure-collectives did not print the expected JSON."), Error);
  CHECK_THROWS_WITH_AS(
      cli::read_collectives(R"({"schema": "headway.collectives", "version": 2})", "trainer"),
      doctest::Contains("--measure-collectives"), Error);
}

}  // namespace headway
