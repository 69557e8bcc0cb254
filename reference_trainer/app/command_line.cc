// SPDX-License-Identifier: MIT
#include "reference_trainer/app/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/text.h"

namespace headway::trainer {
namespace {

constexpr const char* kDescription =
    "headway-train: a small, honest training program whose switches create and remove each known "
    "bottleneck.";

using Assignments = std::vector<std::pair<std::string, std::string>>;

std::string preset_names() {
  std::string names;
  for (const Preset& preset : all_presets())
    names += (names.empty() ? "" : ", ") + std::string(preset.name);
  return names;
}

void add_switch_options(CLI::App& app, Assignments& assignments) {
  const Settings defaults;
  for (const Switch& one : all_switches()) {
    const std::string name(one.name);
    std::string dashed = name;
    std::ranges::replace(dashed, '_', '-');
    const std::string value = one.get(defaults);
    app.add_option_function<std::string>(
           dashed == name ? "--" + name : "--" + dashed + ",--" + name,
           [&assignments, name](const std::string& given) {
             assignments.emplace_back(name, given);
           },
           fmt::format("{} [{}{}]", one.help, one.values,
                       value.empty() ? "" : "; default " + value))
        ->group(std::string(one.area))
        ->option_text(" ")
        ->take_last();
  }
}

/// "--wrokers" -> did you mean '--workers'?
int report_unknown(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const std::string bare = word.substr(0, word.find('='));
  std::string hint;
  for (const std::string& near : closest(bare, names, 1))
    hint = fmt::format(" Did you mean '{}'?", near);
  fmt::print(stderr, "headway-train: '{}' is not an option.{} See `headway-train --help`.\n",
             escape_terminal(word), hint);
  return static_cast<int>(ExitCode::kUsage);
}

void add_assignment(const std::string& text, Assignments& assignments) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    fail_usage("--set {}: expected name=value, such as --set fused_bn=off.", escape_terminal(text));
  assignments.emplace_back(text.substr(0, equals), text.substr(equals + 1));
}

}  // namespace

std::optional<int> parse_command_line(int argc, const char* const* argv, CommandLine& into) {
  CLI::App app{kDescription, "headway-train"};
  app.set_version_flag("--version", std::string("headway-train ") + HEADWAY_TRAINER_VERSION);
  app.get_formatter()->column_width(28);
  app.allow_extras();
  Assignments assignments;
  std::string preset;
  app.add_option("--preset", preset,
                 fmt::format("Switches that plant one bottleneck [{}]", preset_names()))
      ->option_text(" ");
  app.add_option_function<std::vector<std::string>>(
         "--set",
         [&](const std::vector<std::string>& given) {
           for (const std::string& text : given) add_assignment(text, assignments);
         },
         "Set a switch: name=value; may be repeated")
      ->option_text(" ")
      ->expected(1)
      ->take_all();
  app.add_option("--metrics", into.metrics, "Write per-step times, loss and accuracy as JSON")
      ->option_text("FILE");
  app.add_option("--trace", into.trace,
                 "Write the trace of a simulated run; %r in the name: one per rank")
      ->option_text("FILE");
  app.add_option("--calibration", into.calibration,
                 "Write what `headway calibrate` would measure of the simulated GPU, for `headway "
                 "whatif --calibration`")
      ->option_text("FILE");
  app.add_option("--oracle", into.oracle,
                 "Write what is known to be true about the run as JSON: what was planted, what it "
                 "costs; for simulated runs also every dependency and each step's time by cause")
      ->option_text("FILE");
  app.add_flag("--quiet", into.quiet, "No progress and no summary");
  app.add_flag("--explain", into.explain, "Print the effective settings and stop");
  app.add_flag("--print-graph", into.print_graph, "Print the op graph and stop");
  app.add_flag("--switches", into.switches,
               "Print all switches as JSON, with the values in effect and what `headway tune` may "
               "try, and stop");
  app.add_flag("--measure-collectives", into.measure_collectives,
               "Instead of training, measure what collectives between the ranks take (--ranks, "
               "--comm) and print JSON, as `headway calibrate` asks for it");
  app.add_flag("--reference", into.reference, "Print the reference of all switches and stop");
  add_switch_options(app, assignments);
  app.footer(
      "Examples:\n"
      "  headway run -- headway-train --preset input-bound                      # a planted "
      "bottleneck\n"
      "  headway-train --model transformer --steps 50                           # a healthy run\n"
      "  headway-train --device sim --gpu h100 --ranks 8 --trace rank%r.sqlite  # a simulated job\n"
      "  headway-train --preset launch-bound --explain                          # what it sets\n");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::kUsage);
  }
  if (const auto extras = app.remaining(); !extras.empty())
    return report_unknown(app, extras.front());
  for (int i = 0; i < argc; ++i) into.text += fmt::format("{}{}", i > 0 ? " " : "", argv[i]);
  if (!preset.empty()) {
    EffectiveSettings given;  // the device decides which sizes of a preset apply
    for (const auto& [name, value] : assignments) given.apply(name, value);
    into.settings.apply(find_preset(preset), given.values().device);
  }
  for (const auto& [name, value] : assignments) into.settings.apply(name, value);
  if (const char* tf32 = std::getenv("NVIDIA_TF32_OVERRIDE"); tf32 && std::string_view(tf32) == "0")
    into.settings.forbid_tf32();
  return std::nullopt;
}

}  // namespace headway::trainer
