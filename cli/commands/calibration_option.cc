// SPDX-License-Identifier: MIT
#include "cli/commands/calibration_option.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "analyzer/hardware/calibration_file.h"
#include "common/error.h"
#include "trace/meta_keys.h"

namespace headway::cli {
namespace {

std::string machine_of(const MachineCalibration& calibration) {
  std::string names = calibration.host.processor;
  for (const MeasuredDevice& device : calibration.devices) names += ", " + device.name;
  return names;
}

std::string machine_of(const trace::Trace& trace) {
  std::string names(trace.meta_value(trace::meta::kCpu));
  for (const trace::Device& device : trace.devices)
    if (!device.name.empty() && names.find(device.name) == std::string::npos)
      names += (names.empty() ? "" : ", ") + device.name;
  return names.empty() ? "a machine that the recording does not name" : names;
}

}  // namespace

void CalibrationOption::declare(CLI::App& app) {
  app.add_option(
         "--calibration", file_,
         "Take figures missing in the recording from this file of `headway calibrate`. Default: "
         "$XDG_CONFIG_HOME/headway/calibration.json, if it is from the recorded machine")
      ->type_name("FILE");
}

analyzer::MachineFacts CalibrationOption::load(const trace::Trace& trace) const {
  const std::filesystem::path file =
      file_.empty() ? analyzer::default_calibration_file() : std::filesystem::path(file_);
  std::error_code error;
  if (file_.empty() && (file.empty() || !std::filesystem::exists(file, error))) return {};
  const MachineCalibration calibration = analyzer::read_calibration(file);
  analyzer::MachineFacts facts(calibration);
  if (facts.fits(trace)) return facts;
  if (file_.empty()) return {};
  fail_input(
      "{}: calibration of another machine ({}) than the recording ({}). Run `headway calibrate -o "
      "FILE` on the recorded machine, or remove --calibration.",
      file_, machine_of(calibration), machine_of(trace));
}

}  // namespace headway::cli
