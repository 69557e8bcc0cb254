// SPDX-License-Identifier: MIT
#include "cli/calibrate/calibrate.h"

#include <fmt/format.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "analyzer/hardware/calibration_file.h"
#include "cli/commands/commands.h"
#include "cli/commands/load_and_analyze.h"
#include "cli/commands/measured_collectives.h"
#include "cli/commands/recorded_launches.h"
#include "cli/commands/version.h"
#include "collector/record/environment/environment.h"
#include "common/error.h"
#include "common/tell.h"
#include "common/text.h"

namespace headway::cli {
namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string figures_text(const FigureSet& figures, const std::vector<AbsentFigure>& absent) {
  std::string out;
  for (const MachineFigureInfo& one : machine_figures()) {
    if (const std::optional<FigureValue>& value = figures[one.figure])
      out += fmt::format("  {:<28} {:>12}   ({} to {}, {} samples)\n", one.label,
                         format_figure(one.unit, value->p50), format_figure(one.unit, value->p5),
                         format_figure(one.unit, value->p95), value->samples);
  }
  for (const AbsentFigure& one : absent)
    out += fmt::format("  {:<28} not measured: {}\n", info(one.figure).label,
                       escape_terminal(one.why));
  return out;
}

std::string to_text(const MachineCalibration& calibration) {
  const MeasuredHost& host = calibration.host;
  std::string out = fmt::format("Host: {}, {} processors\n{}", escape_terminal(host.processor),
                                host.processors, figures_text(host.figures, host.absent)) +
                    collectives_text(host.collectives);
  for (const MeasuredDevice& device : calibration.devices)
    out += fmt::format("\nDevice: {}, driver for {}\n{}", escape_terminal(device.name),
                       device.driver, figures_text(device.figures, device.absent)) +
           collectives_text(device.collectives);
  return out;
}

class CalibrateCommand final : public Command {
 public:
  std::string_view name() const override { return "calibrate"; }
  std::string_view summary() const override {
    return "Measure machine figures that recordings seldom show, to improve predictions";
  }
  std::vector<Example> examples() const override {
    return {{"headway calibrate", "on an idle machine"},
            {"headway calibrate --device host -o host.json", "the host only, into a file"}};
  }

  void declare(CLI::App& app) override {
    app.add_option("-o,--output", output_,
                   "Write to FILE instead of $XDG_CONFIG_HOME/headway/calibration.json, where "
                   "predictions look for it; '-': the terminal")
        ->type_name("FILE");
    app.add_option("--device", device_,
                   "What to measure besides the host: auto (GPUs if present), cuda (fail without "
                   "one), host (no GPU)")
        ->type_name("DEVICE")
        ->check(CLI::IsMember({"auto", "cuda", "host"}))
        ->capture_default_str();
    app.add_option("--launches-on", launches_on_, "")->group("");
    app.footer(
        "Run it on an idle machine: all processors and each kind of GPU are busy\nfor some "
        "seconds. Clocks and settings stay unchanged.");
  }

  int run() override {
    if (!launches_on_.empty()) {
      calibrate::run_launches(launches_on_);
      return exit_status(ExitCode::kOk);
    }
    const std::string file = output_.empty() ? default_output() : output_;
    calibrate::CudaMeasurement cuda;
    if (device_ != "host") cuda = calibrate::measure_cuda();
    if (device_ == "cuda" && cuda.devices.empty())
      fail_usage(
          "--device cuda: {}. `headway doctor` says more; --device host measures the host alone.",
          cuda.missing);
    MachineCalibration calibration;
    calibration.measured = utc_now();
    calibration.tool_version = kVersion;
    calibration.host = calibrate::measure_host();
    describe(calibration.host);
    add_collectives(std::filesystem::read_symlink("/proc/self/exe").parent_path(),
                    calibration.host);
    calibration.devices = std::move(cuda.devices);
    for (MeasuredDevice& device : calibration.devices) add_recorded_launches(device);
    const std::string json = analyzer::to_json(calibration);
    if (file == "-") {
      write_output(file, json);
    } else {
      write_output("-", to_text(calibration));
      write_file(file, json);
    }
    if (calibration.devices.empty())
      tell(fmt::format("headway: measured the host only: {}\n",
                       device_ == "host" ? "--device host" : escape_terminal(cuda.missing)));
    return exit_status(ExitCode::kOk);
  }

 private:
  static std::string default_output() {
    const std::filesystem::path file = analyzer::default_calibration_file();
    if (file.empty())
      fail_usage("neither XDG_CONFIG_HOME nor HOME is set: choose a file with -o FILE.");
    return file.string();
  }

  static void describe(MeasuredHost& host) {
    const record::Machine machine = record::describe_machine();
    host.name = machine.host;
    host.processor = machine.cpu;
    host.system = machine.kernel;
    host.processors = machine.cpu_count;
    host.memory_bytes = machine.memory_bytes;
  }

  /// Replaces the file atomically, so that a reader never finds half of it.
  void write_file(const std::string& file, const std::string& json) const {
    const std::filesystem::path path(file);
    if (output_.empty()) make_folder(path.parent_path().string());
    const std::string beside = file + ".new";
    write_output(beside, json);
    std::error_code error;
    std::filesystem::rename(beside, path, error);
    if (error) {
      std::error_code ignored;
      std::filesystem::remove(beside, ignored);
      fail_usage("{}: cannot write: {}.", file, error.message());
    }
    tell(fmt::format("wrote {}\n", escape_terminal(file)));
  }

  std::string output_;
  std::string device_ = "auto";
  std::string launches_on_;
};

}  // namespace

std::unique_ptr<Command> make_calibrate_command() {
  return std::make_unique<CalibrateCommand>();
}

}  // namespace headway::cli
