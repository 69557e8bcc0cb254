// SPDX-License-Identifier: MIT
#include "reference_trainer/app/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/format.h"
#include "common/text.h"
#include "reference_trainer/app/command_line.h"
#include "reference_trainer/app/data_setup.h"
#include "reference_trainer/app/machine.h"
#include "reference_trainer/app/metrics.h"
#include "reference_trainer/app/progress.h"
#include "reference_trainer/comm/measure.h"
#include "reference_trainer/comm/ranks.h"
#include "reference_trainer/devices/host/host_device.h"
#include "reference_trainer/devices/host/processor.h"
#include "reference_trainer/devices/sim/simulated_run.h"
#include "reference_trainer/nvtx/emitter.h"
#include "reference_trainer/oracle/oracle.h"
#include "reference_trainer/train/build_model.h"
#include "reference_trainer/train/generation.h"
#include "reference_trainer/train/inference.h"
#include "reference_trainer/train/trainer.h"

namespace headway::trainer {
namespace {

/// The signal that asked the run to end; 0: none.
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

/// Thrown to end the layout of data in an orderly way.
struct Interrupted {};

int resolved_threads(const Settings& settings) {
  if (settings.threads > 0) return static_cast<int>(settings.threads);
  const int ranks = static_cast<int>(settings.ranks);
  return std::clamp(ranks > 1 ? available_cores() / ranks : available_cores() - 1, 1, 8);
}

/// The settings for a trace. Advice names the trainer's switches only if the trace is marked as the
/// trainer's.
std::vector<std::pair<std::string, std::string>> all_settings(const EffectiveSettings& settings) {
  std::vector<std::pair<std::string, std::string>> all = {{"trainer", "headway-train"},
                                                          {"preset", settings.preset()}};
  for (const Switch& one : all_switches()) all.emplace_back(one.name, one.get(settings.values()));
  return all;
}

void publish_setting(std::string_view name, const std::string& value) {
  conventions::SettingPayload payload;
  nvtx::copy_text(payload.name, std::string(name));
  nvtx::copy_text(payload.value, value);
  nvtx::describe(payload);
}

void publish_settings(const EffectiveSettings& settings) {
  for (const auto& [name, value] : all_settings(settings)) publish_setting(name, value);
}

std::string model_name(const Settings& s) {
  if (s.model == ModelKind::kResnet) return fmt::format("ResNet-{} of width {}", s.depth, s.width);
  if (s.model == ModelKind::kSsd)
    return fmt::format("SSD behind ResNet-{} of width {}, {} pixels", s.depth, s.width,
                       s.image_size);
  if (s.model == ModelKind::kGnmt)
    return fmt::format("gnmt of {} + {} layers, {} features, {} tokens", s.layers, s.layers,
                       s.features, s.sequence);
  return fmt::format("transformer of {} blocks, {} features, {} heads, {} tokens", s.layers,
                     s.features, s.heads, s.sequence);
}

/// The loss and accuracy in plain FP32, for comparison with the number format of inference.
std::string beside_fp32(const Settings& settings, const RunResult& result) {
  if (!result.plain_evaluation) return {};
  return fmt::format(" in {}; in plain FP32 loss {:.3f}, accuracy {}",
                     find_switch("infer_precision").get(settings), result.plain_evaluation->loss,
                     format_percent(result.plain_evaluation->accuracy));
}

/// The text generated after the first prompt. Tokens are bytes.
std::string first_text(const Settings& settings, const RunResult& result) {
  std::string text;
  for (const std::vector<std::int32_t>& step : result.tokens) {
    if (text.size() == static_cast<std::size_t>(settings.generate)) break;
    text += static_cast<char>(step.front());
  }
  return text;
}

void print_summary(const Settings& settings, const RunResult& result) {
  fmt::print("{} steps{}, {:.1f} {}/s, median step {}, waiting for input {}\n", result.steps.size(),
             result.interrupted ? " (interrupted)" : "", result.images_per_second(),
             samples_word(settings),
             format_duration({static_cast<std::int64_t>(result.median_step_s() * 1e9)}),
             format_percent(result.input_wait_share()));
  if (const auto loss = result.final_loss())
    fmt::print("{}: loss {:.3f}, accuracy {} (mean of the last tenth)\n",
               settings.mode == RunMode::kInfer ? "inference" : "training", *loss,
               format_percent(static_cast<double>(*result.final_accuracy())));
  if (!result.tokens.empty())
    fmt::print("text: {}\n", escape_terminal(first_text(settings, result)));
  if (result.evaluation)
    fmt::print("test: loss {:.3f}, accuracy {} on {} {}{}\n", result.evaluation->loss,
               format_percent(result.evaluation->accuracy), result.evaluation->images,
               samples_word(settings), beside_fp32(settings, result));
}

/// Reports where the libraries overrule the switch.
void print_tf32(const Settings& s) {
  if (s.tf32_forbidden && s.precision == Precision::kTf32)
    fmt::print("NVIDIA_TF32_OVERRIDE is 0: products are in FP32, not in TF32\n");
}

void print_start(const CommandLine& command, const Device& device, const DataSetup& data,
                 const Graph& graph, std::int64_t steps) {
  const Settings& s = command.settings.values();
  std::int64_t parameters = 0;
  for (ValueId id : graph.parameters()) parameters += graph.value(id).shape.elements();
  const char* core = s.device == DeviceKind::kCuda ? "multiprocessor" : "thread";
  fmt::print("{} ({} parameters, {} ops) on {}, {} {}{}\n", model_name(s), format_count(parameters),
             graph.node_count(), device.info().name, device.info().cores, core,
             device.info().cores == 1 ? "" : "s");
  fmt::print("{}: {} {}, batch {}, {} steps{}\n", escape_terminal(data.description()),
             format_count(sample_count(s, data.data())), samples_word(s), s.batch, steps,
             command.settings.preset().empty() ? "" : ", preset " + command.settings.preset());
  if (!device.info().note.empty()) fmt::print("{}\n", device.info().note);
  print_tf32(s);
  std::fflush(stdout);
}

TrainerHooks make_hooks(const CommandLine& command, Progress& progress,
                        const std::int64_t& total_steps) {
  TrainerHooks hooks;
  hooks.stop = &stop_signal;
  hooks.on_step = [&](const StepRecord& step) {
    const Settings& s = command.settings.values();
    progress.step(step, total_steps, s.batch * s.accumulate);
  };
  hooks.on_evaluation = [&](std::int64_t done, std::int64_t total) {
    progress.count("evaluating", std::min(done, total), total);
  };
  return hooks;
}

/// Runs `work` with the other ranks. When it fails, the other ranks are told before anything waits
/// for them.
RunResult with_ranks(CommBackend* backend, const std::function<RunResult()>& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    if (backend) backend->abandon(fmt::format("rank {} failed: {}", backend->rank(), error.what()));
    throw;
  }
}

void check_generation_settings(const Settings& s) {
  if (s.model != ModelKind::kTransformer)
    fail_usage("generate: only the transformer continues texts. Use --model transformer.");
  if (s.generate >= s.sequence)
    fail_usage("generate: --sequence {} leaves no prompt before {} tokens. Use a larger one.",
               s.sequence, s.generate);
  if (s.device == DeviceKind::kCuda)
    fail_usage("generate: GPUs have no kernels for it yet. Use --device host or sim.");
  if (s.window > 0 || s.experts > 0 || s.infer_precision == InferPrecision::kInt8)
    fail_usage("generate: leave --window 0, --experts 0, and --infer-precision without int8.");
}

void check_inference_settings(const Settings& s) {
  if (s.ranks > 1 || s.pipeline != PipelineSchedule::kOff || s.shard_parameters)
    fail_usage(
        "mode: inference runs on one rank. Remove --ranks, --pipeline and --shard-parameters.");
  if (s.accumulate > 1)
    fail_usage("mode: inference has no gradients to add up. Remove --accumulate.");
  if (s.generate > 0) check_generation_settings(s);
  if (s.channels_first &&
      (s.fold_bn || s.fused_epilogue || s.infer_precision == InferPrecision::kInt8))
    fail_usage(
        "layout: inference folds, fuses and quantises convolutions of NHWC images. Use --layout "
        "nhwc, or --fold-bn off "
        "--fused-epilogue off and no INT8.");
}

void check_device_settings(const Settings& s) {
  const bool cuda = s.device == DeviceKind::kCuda;
  if (s.comm == CommKind::kNccl && s.device == DeviceKind::kHost)
    fail_usage("comm: NCCL is for GPUs (--device cuda). Use --comm shm or mpi with --device host.");
  if (s.comm == CommKind::kNccl && cuda && emulates_links(s))
    fail_usage(
        "comm: emulated links slow down what goes through host memory, not NCCL. Use --comm shm or "
        "mpi with --node-gb-per-s, --network-gb-per-s and --network-us.");
  if (s.mode == RunMode::kInfer) check_inference_settings(s);
  if (s.mode == RunMode::kTrain && s.generate > 0)
    fail_usage("generate: a training makes no text. Use --mode infer.");
  if (s.mode == RunMode::kTrain && !s.checkpoint.empty() && s.device == DeviceKind::kSim)
    fail_usage("checkpoint: a simulated device computes no parameters to write. Remove it.");
  if (s.recompute && s.model != ModelKind::kTransformer)
    fail_usage(
        "recompute: only the transformer can recompute blocks. Use --model transformer, or remove "
        "it.");
  if (s.matching == Matching::kSimota && s.model != ModelKind::kSsd)
    fail_usage("matching: only ssd matches anchors with boxes. Use --model ssd, or remove it.");
  if (!assign_fits_matching(s))
    fail_usage(
        "matching: simota reads the model's predictions, which the loader's workers do not have. "
        "Use --assign batched or per-sample.");
  if (s.world > 0 && s.device != DeviceKind::kSim)
    fail_usage("world: only --device sim can simulate a drawn machine. Remove --world.");
  if (s.cuda_graph && s.raw_allocator)
    fail_usage(
        "cuda_graph: memory cannot be allocated or freed between a graph's kernels. Use "
        "--allocator caching, or --cuda-graph off.");
  if (s.cuda_graph && s.sync.ops > 0)
    fail_usage(
        "cuda_graph: a graph is one launch, so --sync has no effect. Remove it, or use "
        "--cuda-graph off.");
}

/// False for settings that are refused.
bool can_run(const Settings& s) {
  try {
    check_rank_settings(s);
    check_device_settings(s);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Names the given switches that affect only a simulated machine.
void tell_unused(const EffectiveSettings& settings) {
  for (const char* name : {"gpu", "clock", "jitter", "host_cores"}) {
    const Switch& one = find_switch(name);
    if (settings.origin(one) != "command line") continue;
    fmt::print(stderr, "headway-train: {}: has no effect without --device sim\n", one.name);
  }
}

/// Trains first where there is no checkpoint.
RunResult infer_for_real(const CommandLine& command, const DataSetup& data, Progress& progress,
                         Device& device, bool& printed_only) {
  const Settings& settings = command.settings.values();
  ParameterSet parameters;
  if (!command.print_graph) {
    if (settings.checkpoint.empty() && settings.train_steps > 0 && !command.quiet)
      fmt::print("training {} steps first (no --checkpoint)\n", settings.train_steps);
    parameters = parameters_for_inference(settings, device, data.data(),
                                          make_hooks(command, progress, settings.train_steps));
    progress.finish();
  } else {
    parameters = initial_parameters(build_forward_model(settings, data.data(), false).graph,
                                    static_cast<std::uint64_t>(settings.seed));
  }
  if (settings.generate > 0 && !command.print_graph) {
    Generation generation(settings, device, data.data(), parameters);
    return generation.run(make_hooks(command, progress, generation.steps()));
  }
  Inference inference(settings, device, data.data(), std::move(parameters));
  if (command.print_graph) {
    fmt::print("{}", describe(inference.graph()));
    printed_only = true;
    return {};
  }
  if (!command.quiet) print_start(command, device, data, inference.graph(), inference.steps());
  const std::int64_t steps = inference.steps();
  return inference.run(make_hooks(command, progress, steps));
}

/// Runs on the processor or on a GPU.
RunResult train_for_real(const CommandLine& command, const DataSetup& data, Progress& progress,
                         const RankParts& rank, bool& printed_only) {
  const Settings& settings = command.settings.values();
  const Machine machine = open_machine(settings, rank, command.print_graph);
  Device& device = *machine.device;
  if (settings.mode == RunMode::kInfer)
    return infer_for_real(command, data, progress, device, printed_only);
  TrainerParts parts;
  parts.communicator = machine.communicator.get();
  Trainer trainer(settings, device, data.data(), parts);
  if (command.print_graph) {
    fmt::print("{}", describe(trainer.graph()));
    printed_only = true;
    return {};
  }
  if (!command.quiet) print_start(command, device, data, trainer.graph(), trainer.steps());
  const std::int64_t steps = trainer.steps();
  RunResult result = trainer.run(make_hooks(command, progress, steps));
  const bool writes = !rank.backend || rank.backend->rank() == reporting_rank(settings);
  if (!settings.checkpoint.empty() && !result.interrupted) {
    const Model forward = build_forward_model(settings, data.data(), false);
    const ParameterSet parameters = trainer.parameters(forward.graph);
    if (writes) write_checkpoint(settings.checkpoint, forward.graph, parameters);
  }
  return result;
}

RunResult train_simulated(const CommandLine& command, const DataSetup& data, Progress& progress,
                          const ProgramParts& parts) {
  const Settings& settings = command.settings.values();
  const std::int64_t steps = total_steps(settings, sample_count(settings, data.data()));
  sim::SimulationOptions options;
  options.record_events = !command.trace.empty() || !command.oracle.empty();
  options.record_edges = !command.oracle.empty();
  sim::SimulatedRun run =
      sim::simulate(settings, data.data(), options, make_hooks(command, progress, steps));
  run.command = command.text;
  run.settings = all_settings(command.settings);
  progress.finish();
  if (!command.quiet)
    fmt::print("simulated {}, {} rank{}: {}\n", run.gpu.model->id, run.ranks,
               run.ranks == 1 ? "" : "s", escape_terminal(data.description()));
  if (!command.trace.empty()) parts.write_trace(run, command.trace);
  if (!command.calibration.empty()) parts.write_calibration(run, command.calibration);
  if (!command.oracle.empty()) {
    OracleFacts facts{&command.settings, &run.result, &run, {}};
    // The true effect of a fix is the same run with the fix.
    if (const auto without = command.settings.without_planted(); without && can_run(*without))
      facts.mean_step_s_without =
          sim::simulate(*without, data.data(), {false, false}, {}).result.mean_step_s();
    write_oracle(command.oracle, facts);
  }
  return run.result;
}

int train(CommandLine& command, const ProgramParts& parts,
          const std::optional<RankIdentity>& rank) {
  const Settings& settings = command.settings.values();
  if (!command.metrics.empty()) check_metrics_path(command.metrics);
  const bool simulated = settings.device == DeviceKind::kSim;
  if (!command.trace.empty() && !simulated)
    fail_usage(
        "--trace is for simulated runs (--device sim), whose clock no tool can see. Record a run "
        "on "
        "the host with `headway record -o FILE -- headway-train ...`.");
  std::string first_trace = command.trace;  // of rank 0
  if (const std::size_t rank = first_trace.find("%r"); rank != std::string::npos)
    first_trace.replace(rank, 2, "0");
  if (std::error_code ignored; std::filesystem::is_regular_file(first_trace, ignored))
    fail_usage("{}: already exists. Remove it, or name another file with --trace.", first_trace);
  if (!command.calibration.empty() && !simulated)
    fail_usage(
        "--calibration is for simulated runs (--device sim). Measure this machine with `headway "
        "calibrate`.");
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
  if (!simulated && !command.quiet) tell_unused(command.settings);
  publish_settings(command.settings);
  bool printed_only = false;
  RankParts ranks;
  if (rank) ranks = {connect_ranks(*rank, settings), rank->local_rank};
  const RunResult result = with_ranks(ranks.backend.get(), [&] {
    return simulated && !command.print_graph
               ? train_simulated(command, data, progress, parts)
               : train_for_real(command, data, progress, ranks, printed_only);
  });
  if (printed_only) return 0;
  progress.finish();
  if (!simulated && result.padding >= 0)
    publish_setting(conventions::kPaddingSetting, fmt::format("{:.4f}", result.padding));
  if (!command.oracle.empty() && !simulated)
    write_oracle(command.oracle, {&command.settings, &result, nullptr, {}});
  if (!command.metrics.empty()) write_metrics(command.metrics, command.settings, result);
  if (!command.quiet) print_summary(settings, result);
  return result.interrupted ? 128 + stop_signal.load() : 0;
}

/// This process's place among the ranks that a launcher has started. None: it runs alone, or must
/// launch ranks itself. Only the reporting rank prints and writes files.
std::optional<RankIdentity> rank_of(CommandLine& command) {
  std::optional<RankIdentity> identity = identity_from_environment();
  const int asked = static_cast<int>(command.settings.values().ranks);
  if (!identity || (identity->ranks == 1 && asked == 1)) return std::nullopt;
  if (asked != 1 && asked != identity->ranks)
    fail_usage("ranks: {} requested, but the launcher started {}. Remove --ranks.", asked,
               identity->ranks);
  command.settings.resolve_ranks(identity->ranks);
  if (identity->rank == reporting_rank(command.settings.values())) return identity;
  command.quiet = true;
  command.metrics.clear();
  command.oracle.clear();
  return identity;
}

int measure(const Settings& settings, const std::optional<RankIdentity>& rank) {
  if (!rank)
    fail_usage(
        "--measure-collectives: one rank alone exchanges nothing. Use --ranks N with --device "
        "host, "
        "or "
        "start the ranks by mpirun or torchrun.");
  const std::unique_ptr<CommBackend> backend = connect_ranks(*rank, settings);
  std::string json;
  with_ranks(backend.get(), [&] {
    json = measure_collectives(*backend);
    return RunResult{};
  });
  if (rank->rank == 0) fmt::print("{}", json);
  return 0;
}

int run_checked(int argc, const char* const* argv, const ProgramParts& parts) {
  CommandLine command;
  if (const auto status = parse_command_line(argc, argv, command)) return *status;
  if (command.reference) {
    fmt::print("{}", reference_markdown());
    return 0;
  }
  const bool real = command.settings.values().device != DeviceKind::kSim;
  const std::optional<RankIdentity> rank =
      real && !command.print_graph ? rank_of(command) : std::nullopt;
  check_rank_settings(command.settings.values());
  check_device_settings(command.settings.values());
  command.settings.resolve_threads(resolved_threads(command.settings.values()));
  if (command.explain) {
    fmt::print("{}", command.settings.table());
    return 0;
  }
  if (command.switches) {
    fmt::print("{}", switches_json(command.settings));
    return 0;
  }
  if (real && !rank && command.settings.values().ranks > 1 && !command.print_graph)
    return launch_ranks(static_cast<int>(command.settings.values().ranks), argv);
  if (command.measure_collectives) return measure(command.settings.values(), rank);
  try {
    return train(command, parts, rank);
  } catch (const Interrupted&) {
    fmt::print(stderr,
               "headway-train: interrupted while laying out images; the next run goes on from "
               "there.\n");
    return 128 + stop_signal.load();
  }
}

}  // namespace

int run_program(int argc, const char* const* argv, const ProgramParts& parts) {
  try {
    return run_checked(argc, argv, parts);
  } catch (const Error& error) {
    fmt::print(stderr, "headway-train: {}\n", error.what());
    std::fflush(stderr);
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "headway-train: out of memory; use a smaller --batch.\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "headway-train: internal error: {}. Please report this.\n", error.what());
  }
  return static_cast<int>(ExitCode::kInternal);
}

}  // namespace headway::trainer
