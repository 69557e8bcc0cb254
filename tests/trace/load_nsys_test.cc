// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/interval_set.h"
#include "tests/support/recordings.h"
#include "trace/load/load.h"

namespace headway::trace {
namespace {

const std::filesystem::path kTraces = test::recordings_folder();

}  // namespace

TEST_CASE("exports of Nsight Systems load with the reference's counts and busy time") {
  if (!std::filesystem::exists(kTraces / "expected.json")) {
    MESSAGE("skipped: the real recordings are not on this machine");
    return;
  }
  auto expected = nlohmann::json::parse(std::ifstream(kTraces / "expected.json"));
  int compared = 0;
  for (const auto& [file, devices] : expected.items()) {
    if (!file.starts_with("nsys/")) continue;
    CAPTURE(file);
    Trace trace = load(kTraces / file);
    for (const auto& [ordinal, answer] : devices.items()) {
      CAPTURE(ordinal);
      std::int64_t kernels = 0;
      std::int64_t copies = 0;
      std::int64_t sets = 0;
      std::vector<Interval> busy;
      const DeviceOps& ops = trace.device_ops;
      for (std::uint32_t i = 0; i < ops.size(); ++i) {
        if (std::to_string(
                trace.devices[trace.streams[ops.stream[i].value].device.value].ordinal) != ordinal)
          continue;
        kernels += ops.kind[i] == DeviceOpKind::kKernel;
        sets += ops.kind[i] == DeviceOpKind::kMemset;
        copies += ops.kind[i] != DeviceOpKind::kKernel && ops.kind[i] != DeviceOpKind::kMemset;
        busy.push_back(ops.interval(DeviceOpId{i}));
      }
      CHECK(kernels == answer["kernels"].get<std::int64_t>());
      CHECK(copies == answer["copies"].get<std::int64_t>());
      CHECK(sets == answer["memsets"].get<std::int64_t>());
      std::int64_t reference = answer["compute"].get<std::int64_t>() +
                               answer["exposed_comm"].get<std::int64_t>() +
                               answer["exposed_copy"].get<std::int64_t>();
      CHECK(IntervalSet::from_unsorted(busy).total().ns == reference);
      ++compared;
    }
  }
  CHECK(compared >= 3);
}

}  // namespace headway::trace
