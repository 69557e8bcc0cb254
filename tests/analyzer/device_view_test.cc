// SPDX-License-Identifier: MIT
#include "analyzer/partition/device_view.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/trace_builder.h"
#include "trace/load/load.h"

namespace headway::analyzer {

TEST_CASE("overlapping work is counted once, in the order compute, communication, copy") {
  test::TraceBuilder builder;
  builder.launch(1, 0, 1, 100, 200, {.name = "kernel", .stream = 1});
  builder.launch(1, 1, 2, 150, 260,
                 {.name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL", .stream = 2});
  builder.launch(1, 2, 3, 240, 300,
                 {.name = "copy", .stream = 3, .kind = trace::DeviceOpKind::kCopyHostToDevice});
  builder.launch(1, 3, 4, 350, 400, {.name = "kernel", .stream = 1});
  trace::Trace trace = builder.load();
  std::vector<DeviceView> views = device_views(trace);
  REQUIRE(views.size() == 1);
  CHECK(views[0].span.ns == 300);
  CHECK(views[0].compute.ns == 150);
  CHECK(views[0].comm.ns == 110);
  CHECK(views[0].overlap.ns == 50);
  CHECK(views[0].exposed_comm.ns == 60);
  CHECK(views[0].exposed_copy.ns == 40);
  CHECK(views[0].idle.ns == 50);
  CHECK(views[0].kernels == 3);
}

TEST_CASE("real recordings of Nsight Systems give the reference figures to the nanosecond") {
  const std::filesystem::path traces =
      std::filesystem::path(HEADWAY_SOURCE_DIR) / ".." / "shared" / "traces";
  if (!std::filesystem::exists(traces / "expected.json")) {
    MESSAGE("[skipped] the real recordings are not on this machine");
    return;
  }
  auto expected = nlohmann::json::parse(std::ifstream(traces / "expected.json"));
  int compared = 0;
  for (const auto& [file, devices] : expected.items()) {
    if (!file.starts_with("nsys/")) continue;
    trace::Trace trace = trace::load(traces / file);
    for (const DeviceView& view : device_views(trace)) {
      std::string ordinal = std::to_string(trace.devices[view.device.value].ordinal);
      CAPTURE(file);
      CAPTURE(ordinal);
      REQUIRE(devices.contains(ordinal));
      const auto& answer = devices[ordinal];
      CHECK(view.span.ns == answer["span"].get<std::int64_t>());
      CHECK(view.compute.ns == answer["compute"].get<std::int64_t>());
      CHECK(view.exposed_comm.ns == answer["exposed_comm"].get<std::int64_t>());
      CHECK(view.exposed_copy.ns == answer["exposed_copy"].get<std::int64_t>());
      CHECK(view.idle.ns == answer["idle"].get<std::int64_t>());
      CHECK(view.comm.ns == answer["comm"].get<std::int64_t>());
      CHECK(view.overlap.ns == answer["overlap"].get<std::int64_t>());
      ++compared;
    }
  }
  CHECK(compared >= 3);
}

}  // namespace headway::analyzer
