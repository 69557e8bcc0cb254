// SPDX-License-Identifier: MIT
#include "analyzer/hardware/calibration_file.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "tests/support/temporary_folder.h"

namespace headway::analyzer {
namespace {

using Json = nlohmann::ordered_json;
using test::TemporaryFolder;

MachineCalibration example() {
  MachineCalibration calibration;
  calibration.measured = "2026-11-22T09:10:00Z";
  calibration.tool_version = "0.1.0";
  calibration.host = {"node7", "AMD EPYC 9654", "Linux 6.1.0 x86_64", 96, 1'000'000'000'000, {},
                      {}};
  calibration.host.figures[MachineFigure::kWakeUp] = {2'000, 5'500.5, 40'000, 400};
  calibration.host.absent = {{MachineFigure::kHostFp32, "no \"reason\""}};
  calibration.host.collectives = {
      {"shm", "allreduce", 2, 40'000.5, 2e9, 0.05, 1 << 10, 32 << 20, 120}};
  MeasuredDevice& device = calibration.devices.emplace_back();
  device = {"NVIDIA H200", "CUDA 13.0", 150'000'000'000, {}, {}};
  device.figures[MachineFigure::kKernelGap] = {900, 1'000, 1'100, 499};
  device.figures[MachineFigure::kGemmTf32] = {4.1e14, 4.2e14, 4.3e14, 12};
  device.absent = {{MachineFigure::kCollective, "it needs several GPUs"}};
  device.collectives = {{"nccl", "allreduce", 8, 20'000, 3e11, 0, 1 << 10, 1 << 30, 9}};
  return calibration;
}

/// What reading a file of this text says.
std::string refusal(const std::string& text) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "c.json";
  std::ofstream(file, std::ios::binary) << text;
  try {
    read_calibration(file);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kBadInput);
    CHECK(std::string(error.what()).starts_with(file.string() + ": "));
    return error.what();
  }
  return "taken";
}

/// The same for the example with a change.
std::string refusal_of(void (*change)(Json&)) {
  Json json = Json::parse(to_json(example()));
  change(json);
  return refusal(json.dump());
}

bool has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a calibration comes back from its file as it was") {
  const TemporaryFolder folder;
  const std::string text = to_json(example());
  std::ofstream(folder / "c.json") << text;
  const MachineCalibration back = read_calibration(folder / "c.json");
  CHECK(to_json(back) == text);
  CHECK(back.host.processor == "AMD EPYC 9654");
  CHECK(back.host.absent.at(0).why == "no \"reason\"");
  CHECK(back.host.figures[MachineFigure::kWakeUp]->p50 == 5'500.5);
  REQUIRE(back.host.collectives.size() == 1);
  CHECK(back.host.collectives[0].latency_ns == 40'000.5);
  REQUIRE(back.devices.size() == 1);
  CHECK(back.devices[0].collectives.at(0).backend == "nccl");
  CHECK(back.devices[0].figures[MachineFigure::kKernelGap]->samples == 499);
  CHECK_FALSE(back.devices[0].figures[MachineFigure::kLaunch]);
}

TEST_CASE("a bad file is refused with the place, what was expected and what to do") {
  CHECK(has(refusal(""), "byte 1 of 0: not JSON, or cut off"));
  CHECK(has(refusal("[]"), "schema: expected \"headway.calibration\""));
  CHECK(has(refusal("{\"schema\": \"headway.whatif\"}"), "expected \"headway.calibration\""));
  CHECK(has(refusal(std::string(2 << 20, ' ')), "is larger than"));
  CHECK(has(refusal("{\"schema\": 1e400}"), "headway calibrate"));
  CHECK_THROWS_WITH_AS(read_calibration("/dev/zero"), doctest::Contains("is not a regular file"),
                       Error);
  CHECK(
      has(refusal_of([](Json& j) { j["version"] = 2; }), "version 2: written by a newer Headway"));
  CHECK(has(refusal_of([](Json& j) { j["version"] = "1"; }), "version: expected a whole number"));
  CHECK(has(refusal_of([](Json& j) { j.erase("host"); }), "host: expected, but missing"));
  CHECK(has(refusal_of([](Json& j) { j["devices"] = 3; }), "devices: expected a list"));
  CHECK(has(refusal_of([](Json& j) { j["devices"][0] = 3; }), "devices[0]: expected an object"));
  CHECK(has(refusal_of([](Json& j) { j["devices"][0]["figures"]["kernel_gap"]["p50"] = -1; }),
            "devices[0].figures.kernel_gap.p50: expected a number from 0 on, found -1. Run "
            "`headway calibrate` again"));
  CHECK(has(refusal_of([](Json& j) { j["devices"][0]["figures"]["kernel_gap"]["p5"] = 1'001; }),
            "devices[0].figures.kernel_gap: expected p5 <= p50 <= p95"));
  CHECK(has(refusal_of([](Json& j) { j["devices"][0]["figures"]["kernel_gap"]["unit"] = "us"; }),
            "kernel_gap.unit: expected \"ns\""));
  CHECK(has(refusal_of([](Json& j) { j["host"]["figures"]["kernel_gap"] = 1; }),
            "host.figures.kernel_gap: no such figure (known: wake_up, clock_read"));
  CHECK(has(refusal_of([](Json& j) { j["host"]["figures"]["wake_up"]["samples"] = 0; }),
            "host.figures.wake_up.samples: expected at least 1"));
  CHECK(has(refusal_of([](Json& j) { j["host"]["collectives"] = 1; }),
            "host.collectives: expected a list"));
  CHECK(has(refusal_of([](Json& j) { j["host"]["collectives"][0]["ranks"] = 1; }),
            "host.collectives[0].ranks: expected 2 to 1048576"));
  CHECK(has(refusal_of([](Json& j) { j["host"]["collectives"][0]["bytes_per_s"] = 0; }),
            "host.collectives[0].bytes_per_s: expected a number over 0"));
  CHECK(refusal_of([](Json& j) { j["host"].erase("collectives"); }) == "taken");
}

TEST_CASE("a file cut off anywhere is refused") {
  const std::string text = to_json(example());
  for (std::size_t length = 0; length + 2 < text.size(); length += 37)
    CHECK(has(refusal(text.substr(0, length)), "not JSON, or cut off"));
}

TEST_CASE("the default place is that of the XDG specification") {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const std::string before = config ? config : "";
  ::setenv("XDG_CONFIG_HOME", "/etc/xdg", 1);
  CHECK(default_calibration_file() == "/etc/xdg/headway/calibration.json");
  ::setenv("XDG_CONFIG_HOME", "relative", 1);
  const char* home = std::getenv("HOME");
  if (home && *home == '/')
    CHECK(default_calibration_file() ==
          std::filesystem::path(home) / ".config/headway/calibration.json");
  config ? ::setenv("XDG_CONFIG_HOME", before.c_str(), 1) : ::unsetenv("XDG_CONFIG_HOME");
}

}  // namespace headway::analyzer
