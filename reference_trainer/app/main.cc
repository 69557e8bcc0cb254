// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "common/error.h"
#include "common/format.h"
#include "common/text.h"
#include "reference_trainer/app/command_line.h"
#include "reference_trainer/app/data_setup.h"
#include "reference_trainer/app/metrics.h"
#include "reference_trainer/app/progress.h"
#include "reference_trainer/devices/host/host_device.h"
#include "reference_trainer/devices/host/processor.h"
#include "reference_trainer/nvtx/emitter.h"
#include "reference_trainer/train/build_model.h"
#include "reference_trainer/train/trainer.h"

namespace headway::trainer {
namespace {

/// The signal that asked the run to end; 0: none did.
std::atomic<int> stop_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_stop_signal(int signal) {
  int none = 0;
  if (!stop_signal.compare_exchange_strong(none, signal)) _exit(128 + signal);
}

void handle_signals() {
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

/// Ends the layout of data in order.
struct Interrupted {};

int resolved_threads(const Settings& settings) {
  if (settings.threads > 0) return static_cast<int>(settings.threads);
  return std::clamp(available_cores() - 1, 1, 8);
}

void publish_settings(const EffectiveSettings& settings) {
  auto publish = [](std::string_view name, std::string_view value) {
    conventions::SettingPayload payload;
    nvtx::copy_text(payload.name, name);
    nvtx::copy_text(payload.value, value);
    nvtx::describe(payload);
  };
  publish("trainer", "headway-train");  // whose switches these are: advice names them only then
  publish("preset", settings.preset());
  for (const Switch& one : all_switches()) publish(one.name, one.get(settings.values()));
}

std::string model_name(const Settings& s) {
  if (s.model == ModelKind::kResnet) return fmt::format("ResNet-{} of width {}", s.depth, s.width);
  if (s.model == ModelKind::kGnmt)
    return fmt::format("gnmt of {} + {} layers, {} features, {} tokens", s.layers, s.layers,
                       s.features, s.sequence);
  return fmt::format("transformer of {} blocks, {} features, {} heads, {} tokens", s.layers,
                     s.features, s.heads, s.sequence);
}

void print_summary(const Settings& settings, const RunResult& result) {
  fmt::print("{} steps{}, {:.1f} {}/s, median step {}, waiting for input {}\n", result.steps.size(),
             result.interrupted ? " (interrupted)" : "", result.images_per_second(),
             samples_word(settings),
             format_duration({static_cast<std::int64_t>(result.median_step_s() * 1e9)}),
             format_percent(result.input_wait_share()));
  if (const auto loss = result.final_loss())
    fmt::print("training: loss {:.3f}, accuracy {} (mean of the last tenth)\n", *loss,
               format_percent(static_cast<double>(*result.final_accuracy())));
  if (result.evaluation)
    fmt::print("test: loss {:.3f}, accuracy {} on {} {}\n", result.evaluation->loss,
               format_percent(result.evaluation->accuracy), result.evaluation->images,
               samples_word(settings));
}

void print_start(const CommandLine& command, const Device& device, const DataSetup& data,
                 const Trainer& trainer) {
  const Settings& s = command.settings.values();
  std::int64_t parameters = 0;
  for (ValueId id : trainer.graph().parameters())
    parameters += trainer.graph().value(id).shape.elements();
  fmt::print("{} ({} parameters, {} ops) on {}, {} thread{}\n", model_name(s),
             format_count(parameters), trainer.graph().node_count(), device.info().name,
             device.info().cores, device.info().cores == 1 ? "" : "s");
  fmt::print("{}: {} {}, batch {}, {} steps{}\n", escape_terminal(data.description()),
             format_count(sample_count(s, data.data())), samples_word(s), s.batch, trainer.steps(),
             command.settings.preset().empty() ? "" : ", preset " + command.settings.preset());
  std::fflush(stdout);
}

int train(CommandLine& command) {
  const Settings& settings = command.settings.values();
  if (!command.metrics.empty()) check_metrics_path(command.metrics);
  handle_signals();
  nvtx::name_this_thread("training");
  Progress progress(command.quiet);
  auto on_layout = [&](std::int64_t done, std::int64_t total) {
    progress.count("laying out images", done, total);
    if (stop_signal.load() != 0) throw Interrupted{};
  };
  std::string note;
  DataSetup data(settings, on_layout, note);
  progress.finish();
  if (!note.empty()) fmt::print(stderr, "headway-train: {}\n", note);
  publish_settings(command.settings);
  HostDevice device({static_cast<int>(settings.threads), settings.link_mb_per_s * 1e6,
                     settings.memory_gb_per_s * 1e9});
  Trainer trainer(settings, device, data.data());
  if (command.print_graph) {
    fmt::print("{}", describe(trainer.graph()));
    return 0;
  }
  if (!command.quiet) print_start(command, device, data, trainer);
  TrainerHooks hooks;
  hooks.stop = &stop_signal;
  hooks.on_step = [&](const StepRecord& step) {
    progress.step(step, trainer.steps(), settings.batch);
  };
  hooks.on_evaluation = [&](std::int64_t done, std::int64_t total) {
    progress.count("evaluating", std::min(done, total), total);
  };
  const RunResult result = trainer.run(hooks);
  progress.finish();
  if (!command.metrics.empty()) write_metrics(command.metrics, command.settings, result);
  if (!command.quiet) print_summary(settings, result);
  return result.interrupted ? 128 + stop_signal.load() : 0;
}

int main_checked(int argc, char** argv) {
  CommandLine command;
  if (const auto status = parse_command_line(argc, argv, command)) return *status;
  if (command.reference) {
    fmt::print("{}", reference_markdown());
    return 0;
  }
  command.settings.resolve_threads(resolved_threads(command.settings.values()));
  if (command.explain) {
    fmt::print("{}", command.settings.table());
    return 0;
  }
  try {
    return train(command);
  } catch (const Interrupted&) {
    fmt::print(stderr,
               "headway-train: interrupted while laying out images; the next run goes on from "
               "there.\n");
    return 128 + stop_signal.load();
  }
}

}  // namespace
}  // namespace headway::trainer

int main(int argc, char** argv) {
  try {
    return headway::trainer::main_checked(argc, argv);
  } catch (const headway::Error& error) {
    fmt::print(stderr, "headway-train: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "headway-train: out of memory; use a smaller --batch.\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "headway-train: internal error: {}. Please report this.\n", error.what());
  }
  return static_cast<int>(headway::ExitCode::kInternal);
}
