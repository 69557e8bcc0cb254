// SPDX-License-Identifier: MIT
// Counters of GPUs without a GPU: tests/targets/fake_nvml.cc stands in for the driver's library.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>

#include "tests/collector/run_recorder.h"
#include "trace/load/load.h"

namespace headway::test {
namespace {

Recorded record_with_nvml(const TemporaryFolder& folder, const std::vector<std::string>& command,
                          const std::vector<std::string>& options = {},
                          const std::vector<std::string>& environment = {}) {
  std::filesystem::path targets = std::filesystem::path(target("worker")).parent_path();
  Recorded run;
  run.trace = folder.path() / "run.sqlite";
  std::vector<std::string> arguments = {"--quiet", "-o", run.trace.string()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), command.begin(), command.end());
  Recorder recorder(arguments);
  recorder.with("LD_LIBRARY_PATH=" + (targets / "nvml").string() + ":" +
                (targets / "cupti").string());
  for (const std::string& variable : environment) recorder.with(variable);
  recorder.start();
  run.finished = recorder.wait();
  return run;
}

/// Median-free: the stand-in always answers the same.
double value_of(const Recorded& run, const std::string& series, int device) {
  Rows rows = query(run.trace,
                    "SELECT max(v.value) FROM HEADWAY_COUNTER v JOIN HEADWAY_COUNTER_SERIES s ON "
                    "s.id = v.seriesId WHERE s.name = ?1 AND s.deviceId = ?2",
                    {series, std::to_string(device)});
  return rows.empty() || rows[0][0] == "NULL" ? -1 : std::stod(rows[0][0]);
}

}  // namespace

TEST_CASE("GPU counters: use, memory, clocks, limits, power and links of every GPU") {
  TemporaryFolder folder;
  Recorded run = record_with_nvml(folder, {"sleep", "0.6"});
  REQUIRE(run.finished.status == 0);
  CHECK(meta(run.trace, "gpu_counters") == "on");
  for (int device : {0, 1}) {
    CAPTURE(device);
    CHECK(value_of(run, "gpu.utilisation", device) == 87);
    CHECK(value_of(run, "gpu.memory_utilisation", device) == 34);
    CHECK(value_of(run, "gpu.memory_used", device) == 41.0 * (1 << 30));
    CHECK(value_of(run, "gpu.sm_clock", device) == 1.41e9);
    CHECK(value_of(run, "gpu.memory_clock", device) == 2.619e9);
    CHECK(value_of(run, "gpu.throttle_reasons", device) == 4);
    CHECK(value_of(run, "gpu.power", device) == 651.5);
  }
  CHECK(value_of(run, "gpu.temperature", 0) == 61);
  CHECK(value_of(run, "gpu.temperature", 1) == -1);  // not supported there
  // The first has GPM, whose stand-in answers a metric with its number; the links are in MiB/s.
  CHECK(value_of(run, "gpu.sm_active", 0) == 2);
  CHECK(value_of(run, "gpu.dram_active", 0) == 10);
  CHECK(value_of(run, "gpu.tensor_active", 0) == -1);
  CHECK(value_of(run, "gpu.pcie_sent", 0) == 20.0 * (1 << 20));
  CHECK(value_of(run, "gpu.nvlink_received", 0) == 60.0 * (1 << 20));
  // The second has not: NVML's own counters.
  CHECK(value_of(run, "gpu.sm_active", 1) == -1);
  CHECK(value_of(run, "gpu.pcie_received", 1) == 2e6);
  CHECK(value_of(run, "gpu.nvlink_sent", 1) > 0);
  trace::Trace trace = trace::load(run.trace);
  std::map<std::string, std::size_t> samples;
  for (const trace::CounterSeries& series : trace.counters) {
    if (series.device == 0) samples[series.name] = series.value.size();
  }
  CHECK(samples["gpu.sm_clock"] >= 4);
  CHECK(samples["gpu.sm_clock"] <= 9);
}

TEST_CASE("GPU counters: the rate is chosen, and 0 asks nothing") {
  TemporaryFolder folder;
  Recorded run = record_with_nvml(folder, {"sleep", "0.3"}, {"--counter-rate", "50"});
  CHECK(number(run.trace,
               "SELECT count(*) FROM HEADWAY_COUNTER v JOIN HEADWAY_COUNTER_SERIES s ON s.id = "
               "v.seriesId WHERE s.name = 'gpu.power' AND s.deviceId = 0") >= 10);
  TemporaryFolder other;
  Recorded off = record_with_nvml(other, {"true"}, {"--counter-rate", "0"});
  CHECK(meta(off.trace, "gpu_counters") == "off: --counter-rate 0");
  CHECK(number(off.trace, "SELECT count(*) FROM HEADWAY_COUNTER_SERIES WHERE name LIKE 'gpu.%'") ==
        0);
}

TEST_CASE("GPU counters: a driver that does not start is told, and nothing else suffers") {
  TemporaryFolder folder;
  Recorded run = record_with_nvml(folder, {"true"}, {}, {"FAKE_NVML_FAILS=1"});
  CHECK(run.finished.status == 0);
  CHECK(meta(run.trace, "gpu_counters") == "off: NVML does not start: Driver Not Loaded");
  TemporaryFolder without;
  Recorded none = record(without, {"true"});
  CHECK((meta(none.trace, "gpu_counters") == "on" ||
         meta(none.trace, "gpu_counters").starts_with("off: ")));
}

TEST_CASE("GPU counters: NVML's and CUPTI's device are told to be the same by their UUID") {
  if (!std::filesystem::exists(target("cuda_memory"))) {
    MESSAGE("[skipped] built without CUDA");
    return;
  }
  TemporaryFolder folder;
  Recorded run = record_with_nvml(folder, {target("cuda_memory")});
  REQUIRE(run.finished.status == 0);
  CHECK(query(run.trace, "SELECT id, name, maxWarpsPerSm, l2CacheSize FROM TARGET_INFO_GPU") ==
        Rows{{"0", "Pretended GPU", "64", "62914560"}});
  CHECK(value_of(run, "gpu.sm_clock", 0) == 1.41e9);
  // The recorder can ask, so the program need not.
  CHECK(number(run.trace,
               "SELECT count(*) FROM HEADWAY_COUNTER_SERIES WHERE name = 'gpu.sm_clock'") == 2);
}

}  // namespace headway::test
