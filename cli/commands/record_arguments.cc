// SPDX-License-Identifier: MIT
#include "cli/commands/record_arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <memory>

#include "cli/commands/version.h"

namespace headway::cli {
namespace {

/// CLI11 cannot say in its usage line that the rest of the line is a command.
class LauncherFormatter final : public CLI::Formatter {
 public:
  explicit LauncherFormatter(std::string command) : command_(std::move(command)) {}
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: headway " + command_ + " [OPTIONS] -- COMMAND [ARGUMENT]...\n";
  }
  /// Drops the value of a flag that CLI11 shows, as in "--pytorch{on}".
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, is_positional);
    return name.substr(0, name.find('{'));
  }
  /// Shows values as the user types them: "all|primary [all]" for CLI11's "TEXT:{all,primary}
  /// [all]"; an optional value has no space before it: "--pytorch[=on|ops]".
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string type = option->get_type_name();
    if (const std::size_t set = type.find(":{"); set != std::string::npos) {
      std::string values = type.substr(set + 2, type.size() - set - 3);
      std::replace(values.begin(), values.end(), ',', '|');
      type = type.starts_with('[') ? type.substr(0, set) : values;
    }
    if (type.empty() || type.starts_with('[')) return type;
    std::string text = " " + type;
    if (!option->get_default_str().empty()) text += " [" + option->get_default_str() + "]";
    return text;
  }

 private:
  std::string command_;
};

}  // namespace

void RecordArguments::declare(CLI::App& app, const std::string& command) {
  auto formatter = std::make_shared<LauncherFormatter>(command);
  formatter->column_width(app.get_formatter()->get_column_width());
  app.formatter(formatter);
  app.footer("The exit status is that of the command.");
  app.add_option("-o,--output", options_.output,
                 "Trace file to write. Default: the first free of run.sqlite, run-2.sqlite, …")
      ->type_name("FILE");
  app.add_option("--name", options_.name,
                 "Name of the run: `headway history` compares runs of one name")
      ->type_name("NAME");
  app.add_flag("--force", options_.force, "Replace an existing trace file when the command starts");
  app.add_flag("--keep-arguments", options_.keep_arguments,
               "Keep passwords and tokens on command lines (default: replaced by ***)");
  app.add_flag("--quiet", options_.quiet, "Print only errors");
  app.add_option("--sample-hz", options_.sample_hz,
                 "Samples per second of each process's CPU, memory and I/O; 0: none")
      ->type_name("N")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--counter-rate", options_.counter_hz,
                 "Samples per second of each GPU's use, memory, clocks, power and links; 0: none")
      ->type_name("N")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  app.add_option("--wait", wait_,
                 "Processes to wait for: 'all' that the command starts, or only the 'primary' one")
      ->check(CLI::IsMember({"all", "primary"}))
      ->capture_default_str();
  app.add_option("--clock", clock_,
                 "Event clock: 'tsc' (processor counter, cheaper), 'realtime', or 'auto': tsc "
                 "where reliable")
      ->check(CLI::IsMember({"auto", "tsc", "realtime"}))
      ->capture_default_str();
  app.add_option("--nvtx", nvtx_, "Record NVTX ranges")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  app.add_flag("--io", options_.io,
               "Record file calls (open, read, write, map): times, bytes, paths");
  app.add_option("--cuda", cuda_, "Record CUDA kernels, copies, waits and API calls through CUPTI")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  app.add_option("--cuda-graph", cuda_graph_,
                 "CUDA graphs: every 'node', or one op per 'graph' launch (cheaper)")
      ->check(CLI::IsMember({"node", "graph"}))
      ->capture_default_str();
  app.add_flag("--cuda-memory", options_.cuda.memory,
               "Record each allocation and release of CUDA memory, and memory pools");
  app.add_flag("--cuda-latency", options_.cuda.latency,
               "Record queue and submit times of kernels (slows the program more)");
  app.add_flag(
      "--measure-cost", options_.cuda.pauses,
      "PyTorch: do not record CUDA in 4 × 8 of the steps, which shows what recording costs; "
      "predictions are then for a run without recording");
  app.add_flag("--nccl-profiler", options_.nccl_profiler,
               "Record NCCL profiler events: sequence numbers, algorithm, protocol");
  app.add_flag(
         "--pytorch{on}", options_.pytorch,
         "Record unmodified PyTorch programs: steps, input waits, loader workers, modules, "
         "backward, optimizers; 'ops': also each op, forward and backward. Of Keras, TensorFlow "
         "and JAX: steps and input waits. 'auto': 'on' if the program imports one of them")
      ->type_name("[=auto|on|ops|off]")
      ->check(CLI::IsMember({"auto", "on", "ops", "off"}))
      ->default_str("auto");
  declare_scope(app);
  app.add_option("command", options_.command, "Command to record, with its arguments")
      ->type_name("");
  // Arguments after the command belong to the command, with or without "--".
  app.positionals_at_end();
}

record::RecordOptions RecordArguments::options() const {
  record::RecordOptions options = options_;
  options.wait = wait_ == "all" ? record::WaitFor::kAll : record::WaitFor::kPrimary;
  options.clock = clock_ == "tsc"        ? record::ClockChoice::kTsc
                  : clock_ == "realtime" ? record::ClockChoice::kRealtime
                                         : record::ClockChoice::kAuto;
  options.nvtx = nvtx_ == "on";
  options.cuda.on = cuda_ == "on";
  options.cuda.whole_graphs = cuda_graph_ == "graph";
  options.kill = kill_ == "sigint"    ? SIGINT
                 : kill_ == "sigterm" ? SIGTERM
                 : kill_ == "sigkill" ? SIGKILL
                                      : 0;
  options.tool_version = kVersion;
  return options;
}

void RecordArguments::declare_scope(CLI::App& app) {
  constexpr const char* kGroup = "RECORDING SCOPE";
  record::ScopeTexts& scope = options_.scope;
  auto add = [&](const char* name, std::string& target, const char* type, const char* help) {
    return app.add_option(name, target, help)->type_name(type)->group(kGroup);
  };
  add("--delay", scope.delay, "S", "Skip the first S seconds");
  add("--duration", scope.duration, "S",
      "End the recording after S seconds; the command continues unrecorded");
  add("--steps", scope.steps, "A:B", "Only these steps, by number, inclusive: 10:20, 10:, 7");
  add("--sample-steps", scope.sample_steps, "K:N", "Only the first K of every N steps");
  add("--step-range", scope.step_range, "NAME",
      "Name of the step ranges, 'train*' for any ending. Default: declared steps, else ranges "
      "named like steps");
  add("--capture-range", scope.capture_range, "RANGE",
      "Only while this is open: nvtx:NAME, nvtx:NAME@DOMAIN, or cuda-profiler (from "
      "cudaProfilerStart to cudaProfilerStop)");
  add("--ring", scope.ring, "S", "Only the last S seconds before the command ends");
  add("--max-size", scope.max_size, "SIZE", "End the recording at this file size: 500MB, 2GiB");
  add("--ranks", scope.ranks, "LIST", "Only processes of these ranks: 0, 0,8, 0-3");
  add("--include-children", scope.children, "on|off",
      "off: only the command itself, not its child processes")
      ->check(CLI::IsMember({"on", "off"}))
      ->default_str("on");
  app.add_option(
         "--kill", kill_,
         "Signal sent to the command if the recording ends first: none, sigint, sigterm or sigkill")
      ->type_name("SIGNAL")
      ->check(CLI::IsMember({"none", "sigint", "sigterm", "sigkill"}))
      ->group(kGroup)
      ->capture_default_str();
}

}  // namespace headway::cli
