// SPDX-License-Identifier: MIT
#include "gui/models/figures/roofline.h"

#include <doctest/doctest.h>

#include "tests/gui/support/sessions.h"

namespace headway::gui {

TEST_CASE("work whose bytes and operations are known becomes a point, the rest a row without") {
  test::TraceBuilder builder;
  builder.launch(1, 0, 1, 100, 1100, {.name = "gemm", .bytes = 10'000, .flops = 1'000'000});
  builder.launch(1, 2, 3, 1200, 1700, {.name = "relu", .bytes = 5'000});
  builder.launch(1, 4, 5, 1800, 1900,
                 {.name = "copy", .kind = trace::DeviceOpKind::kCopyHostToDevice, .bytes = 10});
  auto session = test::session_of(builder);
  Roofline roofline = make_roofline(session->trace, session->analysis, OpGrouping::kKernel);
  REQUIRE(roofline.points.size() == 1);
  CHECK(roofline.points[0].intensity == doctest::Approx(100));
  CHECK(roofline.points[0].rate == doctest::Approx(1e12));
  CHECK(roofline.points[0].share == doctest::Approx(2.0 / 3));
  CHECK(roofline.known == doctest::Approx(2.0 / 3));
  CHECK(roofline.table.table.rows.size() == 2);
  // The builder's host device has no known peak, and the page says so.
  CHECK(roofline.peaks.empty());
  CHECK(roofline.points[0].attained == 0);
  CHECK(roofline.text.find("unknown") != std::string::npos);
}

TEST_CASE("without bytes and operations the page says who would record them") {
  test::TraceBuilder builder;
  builder.launch(1, 0, 1, 100, 1100, {.name = "gemm"});
  auto session = test::session_of(builder);
  Roofline roofline = make_roofline(session->trace, session->analysis, OpGrouping::kKernel);
  CHECK(roofline.points.empty());
  CHECK(roofline.missing.find("headway.device_op") != std::string::npos);
  test::TraceBuilder nothing;
  nothing.range(1, "r", 0, 10);
  auto empty = test::session_of(nothing);
  CHECK(!make_roofline(empty->trace, empty->analysis, OpGrouping::kOp).missing.empty());
}

TEST_CASE("every grouping covers the same kernel time") {
  auto session = test::training_session();
  for (OpGrouping grouping : {OpGrouping::kOp, OpGrouping::kType, OpGrouping::kKernel}) {
    Roofline roofline = make_roofline(session->trace, session->analysis, grouping);
    double share = 0;
    for (const auto& row : roofline.table.table.rows)
      share += std::get<double>(row[static_cast<std::size_t>(roofline.table.column("share"))]);
    CHECK(share == doctest::Approx(1));
    CHECK(roofline.known > 0.5);
    for (const RooflinePoint& point : roofline.points)
      CHECK(point.byte_rate * point.intensity == doctest::Approx(point.rate));
  }
}

TEST_CASE("a logarithmic axis spans whole decades and keeps order") {
  LogAxis axis = LogAxis::over(0.3, 40);
  CHECK(axis.low == -1);
  CHECK(axis.high == 2);
  CHECK(axis.position(0.1) == doctest::Approx(0));
  CHECK(axis.position(100) == doctest::Approx(1));
  CHECK(axis.position(1) < axis.position(2));
  LogAxis one = LogAxis::over(10, 10);
  CHECK(one.high > one.low);
}

}  // namespace headway::gui
