// SPDX-License-Identifier: MIT
// Real recordings: every record lands where it belongs. The counts are those of the files' records
// by category, counted with another program.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/trace/import/kineto_file.h"

namespace headway::trace {

TEST_CASE("real recordings of PyTorch's profiler are read completely") {
  std::filesystem::path folder = test::real_traces();
  if (folder.empty()) {
    MESSAGE("[skipped] the real recordings are not on this machine");
    return;
  }
  // `launched`: device rows whose correlation id a runtime or driver call of the file has. Recordings
  // that began while work was queued lack the other launches, and no other row has their ids.
  struct Expected {
    const char* file;
    int ranges, calls, kernels, copies, memsets, launched;
  };
  constexpr Expected kExpected[] = {
      {"a100_alexnet.json.gz", 370, 361, 79, 16, 3, 98},
      {"a100_control.json.gz", 40797, 24692, 8568, 228, 654, 9450},
      {"a100_event_sync.json.gz", 14, 12, 4, 1, 0, 5},
      {"a100_event_sync_multi_stream.json.gz", 9, 39, 3, 0, 3, 6},
      {"cpu_only.json.gz", 18, 0, 0, 0, 0, 0},
      {"h100_bert_small.json.gz", 1869, 132, 60, 1, 0, 61},
      {"h100_qwen_0_5b.json.gz", 8453, 1922, 1465, 1, 241, 1198},
      {"mi300_resnet_ddp.json.gz", 42457, 3100, 2995, 550, 108, 2685},
      {"triton_small.json.gz", 7, 2, 1, 0, 0, 1},
      {"v100_resnet_ddp_ns.json.gz", 23998, 15329, 4350, 1600, 145, 6095},
      {"v100_test.json.gz", 31527, 21167, 9876, 4856, 900, 15018},
  };
  for (const Expected& expected : kExpected) {
    CAPTURE(expected.file);
    Trace trace = load(folder / "kineto" / expected.file);
    CHECK(trace.ranges.size() == static_cast<std::size_t>(expected.ranges));
    CHECK(trace.calls.size() == static_cast<std::size_t>(expected.calls));
    auto of_kind = [&](auto wanted) {
      return std::count_if(trace.device_ops.kind.begin(), trace.device_ops.kind.end(), wanted);
    };
    CHECK(of_kind([](DeviceOpKind kind) {
            return kind == DeviceOpKind::kKernel || kind == DeviceOpKind::kCommunication;
          }) == expected.kernels);
    CHECK(of_kind([](DeviceOpKind kind) { return kind == DeviceOpKind::kMemset; }) ==
          expected.memsets);
    CHECK(trace.device_ops.size() ==
          static_cast<std::size_t>(expected.kernels + expected.copies + expected.memsets));
    CHECK(trace.complete);
    CHECK(trace.processes.size() <= 2);
    CHECK(test::loss(trace, "malformed_record") == 0);
    const std::vector<CallId>& calls = trace.device_ops.call;
    CHECK(std::count_if(calls.begin(), calls.end(), [](CallId call) { return call.valid(); }) ==
          expected.launched);
  }
}

TEST_CASE("a real distributed run has its ranks, groups and collectives") {
  std::filesystem::path folder = test::real_traces();
  if (folder.empty()) {
    MESSAGE("[skipped] the real recordings are not on this machine");
    return;
  }
  Trace trace = load(folder / "kineto" / "mi300_resnet_ddp.json.gz");
  CHECK(trace.world_size == 8);
  CHECK(trace.meta_value("process_group.0") == "0,1,2,3,4,5,6,7");
  auto kernels = std::count_if(trace.collectives.begin(), trace.collectives.end(),
                               [](const Collective& c) { return c.op.valid(); });
  CHECK(kernels == 12);
  for (const Collective& collective : trace.collectives) {
    CHECK(collective.ranks == 8);
    CHECK(collective.bytes > 0);
  }
}

}  // namespace headway::trace
