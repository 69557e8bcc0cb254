// SPDX-License-Identifier: MIT
// The program as a user calls it. Machines with a GPU measure it, too; what is asked here holds on both.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "analyzer/hardware/calibration_file.h"
#include "analyzer/hardware/machine_facts.h"
#include "tests/support/run_command.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/trace_builder.h"

namespace headway {
namespace {

using test::Outcome;
using test::TemporaryFolder;

/// In an environment whose configuration is `config` and that has no GPU.
Outcome run(const std::string& arguments, const std::filesystem::path& config) {
  const std::string command = "XDG_CONFIG_HOME='" + config.string() +
                              "' CUDA_VISIBLE_DEVICES= '" HEADWAY_BINARY_DIR "/headway' " +
                              arguments;
  return test::run_command(command);
}

/// Steps of one kernel that the host waits for, on a processor of that name.
std::filesystem::path save_run(test::TraceBuilder& builder, const std::string& processor) {
  for (int i = 0; i < 10; ++i) {
    const std::int64_t now = i * 300'000;
    builder.launch(1, now, now + 10'000, now + 20'000, now + 200'000, {});
    builder.call(1, trace::DeviceCallKind::kStreamSynchronize, now + 20'000, now + 210'000);
    builder.range(1, "step", now, now + 290'000, {.kind = trace::RangeKind::kStep, .step = i});
  }
  builder.writer().set_meta("cpu", processor);
  return builder.save();
}

}  // namespace

TEST_CASE(
    "calibrate writes the host's figures where predictions find them, which use them and say so") {
  const TemporaryFolder config;
  const Outcome calibrated = run("calibrate", config.path());
  CAPTURE(calibrated.output);
  CHECK(calibrated.status == 0);
  CHECK(calibrated.says("wake-up of a thread"));
  CHECK(calibrated.says("measured the host only: "));
  const std::filesystem::path file = config.path() / "headway" / "calibration.json";
  const MachineCalibration calibration = analyzer::read_calibration(file);
  CHECK(calibration.host.processors > 0);
  CHECK(calibration.devices.empty());
  CHECK_FALSE(std::filesystem::exists(file.string() + ".new"));
  if (calibration.host.processors > 1) {
    // Of two ranks over shared memory at least: three kinds.
    CHECK(calibrated.says("allreduce, 2 ranks, shm"));
    REQUIRE(calibration.host.collectives.size() >= 3);
    for (const MeasuredCollective& one : calibration.host.collectives) {
      CHECK(one.bytes_per_s > 1e6);
      CHECK(one.least_bytes == 1 << 10);
      CHECK(one.most_bytes == 32 << 20);
    }
  }

  test::TraceBuilder same;
  const std::string trace = "'" + save_run(same, calibration.host.processor).string() + "'";
  const Outcome found = run("whatif " + trace, config.path());
  CAPTURE(found.output);
  CHECK(found.status == 0);
  CHECK(found.says("Assumed: launch latency "));
  CHECK(found.says(": measured " + calibration.measured.substr(0, 10) + " on "));
  const Outcome report = run("report --full --predict yes " + trace, config.path());
  CHECK(report.says("predicted gains assume launch latency"));
  CHECK(report.says("measured " + calibration.measured.substr(0, 10)));
}

TEST_CASE("another machine's calibration is not used, and refused when it was named") {
  const TemporaryFolder config;
  REQUIRE(run("calibrate --device host -o '" + (config / "c.json").string() + "'", config.path())
              .status == 0);
  test::TraceBuilder other;
  const std::string trace = "'" + save_run(other, "A processor of another kind").string() + "'";
  const Outcome named =
      run("whatif --calibration '" + (config / "c.json").string() + "' " + trace, config.path());
  CHECK(named.status == 3);
  CHECK(named.says("c.json: "));
  CHECK(named.says("A processor of another kind"));
  std::filesystem::create_directory(config / "headway");
  std::filesystem::copy_file(config / "c.json", config.path() / "headway" / "calibration.json");
  const Outcome found = run("whatif " + trace, config.path());
  CHECK(found.status == 0);
  CHECK_FALSE(found.says("measured 20"));
}

TEST_CASE("mistakes on the command line are answered with what to do") {
  const TemporaryFolder config;
  const Outcome device = run("calibrate --device gpu", config.path());
  CHECK(device.status == 2);
  CHECK(device.says("{auto,cuda,host}"));
  const Outcome no_gpu = run("calibrate --device cuda", config.path());
  CHECK(no_gpu.status == 2);
  CHECK(no_gpu.says("--device cuda: "));
  CHECK(no_gpu.says("--device host measures the host alone"));
  const Outcome folder = run("calibrate --device host -o /nowhere/c.json", config.path());
  CHECK(folder.status == 2);
  CHECK(folder.says("/nowhere/c.json"));
  test::TraceBuilder builder;
  const std::string trace = "'" + save_run(builder, "any").string() + "'";
  const Outcome missing = run("whatif --calibration nothing.json " + trace, config.path());
  CHECK(missing.status == 3);
  CHECK(missing.says("nothing.json: No such file or directory"));
  std::ofstream(config / "cut.json") << "{\"schema\": \"headway.cal";
  const Outcome cut =
      run("whatif --calibration '" + (config / "cut.json").string() + "' " + trace, config.path());
  CHECK(cut.status == 3);
  CHECK(cut.says("not JSON, or cut off"));
}

TEST_CASE("a simulated GPU's calibration is one, and of the GPU in its traces") {
  const TemporaryFolder folder;
  const std::string trace = (folder / "sim.sqlite").string();
  const std::string file = (folder / "sim.json").string();
  const std::string trainer =
      "'" HEADWAY_BINARY_DIR
      "/headway-train' --device sim --model transformer --data generated --eval off --layers 1 "
      "--features 64 --batch 2 --steps 12 --precision fp32 --quiet --trace '" +
      trace + "' --calibration '" + file + "'";
  REQUIRE(std::system(trainer.c_str()) == 0);
  const MachineCalibration calibration = analyzer::read_calibration(file);
  REQUIRE(calibration.devices.size() == 1);
  CHECK(calibration.devices[0].figures[MachineFigure::kKernelGap]);
  const Outcome outcome =
      run("whatif --calibration '" + file + "' --fix tensor-cores '" + trace + "'", folder.path());
  CAPTURE(outcome.output);
  CHECK(outcome.status == 0);
  CHECK(outcome.says("7.4× faster"));
  CHECK(outcome.says("matrix products, measured 2000-01-01 on Simulated NVIDIA H200"));
}

TEST_CASE("--output - prints the file") {
  const TemporaryFolder config;
  const Outcome outcome = run("calibrate --device host -o - 2>/dev/null", config.path());
  CHECK(outcome.status == 0);
  CHECK(outcome.output.starts_with("{\n  \"schema\": \"headway.calibration\""));
}

}  // namespace headway
