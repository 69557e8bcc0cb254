// SPDX-License-Identifier: MIT
#include "collector/record/record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>

#include "collector/record/display.h"
#include "collector/record/environment/launched_rank.h"
#include "collector/record/launch.h"
#include "collector/record/recorded_environment.h"
#include "collector/record/run_description.h"
#include "collector/record/summary.h"
#include "collector/record/system/gpu_sampler.h"
#include "collector/record/system/proc_files.h"
#include "collector/record/system/sampler.h"
#include "common/error.h"
#include "common/tell.h"
#include "common/text.h"
#include "trace/meta_keys.h"
#include "trace/save/temporary_file.h"

namespace headway::record {
namespace {

/// Creates the trace file with the requested name or the first free one. Several recordings may
/// begin in one folder at the same moment (one per rank), so a name is free only when its file could
/// be created. If `keep` is not called (the command could not be started), the destructor removes
/// the new file and restores the one that --force would have replaced.
class NewTrace {
 public:
  explicit NewTrace(const RecordOptions& options) {
    if (!options.output.empty()) {
      const std::filesystem::path path = fill_in_place(options.output.string());
      if (options.force) old_.emplace(path);
      sink_ = std::make_unique<TraceSink>(path, false);
      return;
    }
    for (int i = 1; !sink_; ++i) {
      try {
        sink_ = std::make_unique<TraceSink>(i == 1 ? "run.sqlite" : fmt::format("run-{}.sqlite", i),
                                            false);
      } catch (const Error& error) {
        if (error.code() != ExitCode::kUsage) throw;  // kUsage: the name is taken
      }
    }
  }
  ~NewTrace() {
    if (kept_ || !sink_) return;
    const std::filesystem::path path = sink_->path();
    sink_.reset();
    trace::remove_with_companions(path);
  }
  NewTrace(const NewTrace&) = delete;
  NewTrace& operator=(const NewTrace&) = delete;

  void keep() {
    kept_ = true;
    if (old_) old_->discard();
  }
  TraceSink& sink() { return *sink_; }

 private:
  std::optional<trace::SetAside> old_;  ///< restored after the new file has been removed
  std::unique_ptr<TraceSink> sink_;
  bool kept_ = false;
};

/// The hooks that Python programs get; `folder` is empty for none.
struct PytorchHook {
  std::filesystem::path folder;
  std::string level;
  bool asked = false;  ///< the user asked for them: then say what is missing
};

PytorchHook choose_pytorch_hook(const RecordOptions& options) {
  if (options.pytorch == "off") return {};
  if (options.pytorch != "auto") {
    if (!options.nvtx) fail_usage("--pytorch records NVTX ranges: remove --nvtx off.");
    return {find_pytorch_folder(), options.pytorch, true};
  }
  if (!options.nvtx) return {};
  try {
    return {find_pytorch_folder(), "on", false};
  } catch (const Error&) {  // this build has no binding
    return {};
  }
}

wire::Clock choose_clock(ClockChoice choice) {
  if (choice == ClockChoice::kRealtime) return wire::Clock::kRealtime;
  std::string why_not;
  if (tsc_is_safe(why_not)) return wire::Clock::kTsc;
  if (choice == ClockChoice::kTsc)
    fail_usage(
        "--clock tsc: this machine's time-stamp counter is unreliable: {}. Use --clock auto.",
        why_not);
  return wire::Clock::kRealtime;
}

DurationNs own_cpu_time() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto ns = [](const timeval& t) {
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_usec * 1000;
  };
  return {ns(usage.ru_utime) + ns(usage.ru_stime)};
}

/// Fills the numbers of standard streams that the user has closed: a file of the recorder with such
/// a number would receive what is meant for the stream. The recorded program still finds it closed.
void fill_closed_standard_streams() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDWR | O_CLOEXEC);  // takes the lowest
  }
}

/// Raises the soft limit to the hard one: the recorder needs several descriptors per process.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// Runs `body` in a thread and stores an error in `trouble`, which is reported at the end and does
/// not affect the program. Returns no thread when the system refuses one.
template <class Body>
std::thread guarded_thread(std::string& trouble, Body body) {
  try {
    return std::thread([&trouble, body] {
      try {
        body();
      } catch (const std::exception& error) {
        trouble = error.what();
      }
    });
  } catch (const std::system_error& error) {
    trouble = fmt::format("cannot start a thread: {}.", error.what());
    return {};
  }
}

void join(std::thread& thread) {
  if (thread.joinable()) thread.join();
}

/// When each rank has its own recorder and this rank is not to be recorded, replaces this process by
/// the command. Returns when this rank is to be recorded.
void run_if_left_out(const RecordOptions& options, const ScopeOptions& scope,
                     const std::filesystem::path& program) {
  std::optional<int> rank = launched_rank([](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return std::string(value ? value : "");
  });
  if (scope.wants_rank(rank)) return;
  if (!options.quiet)
    tell(fmt::format("headway: rank {} is not recorded (--ranks {})\n", *rank,
                     escape_terminal(options.scope.ranks)));
  become(program, options.command);
}

/// The threads of a recording, from after the launch to the end.
class Recording {
 public:
  Recording(const RecordOptions& options, const ScopeOptions& scope, const ClockReading& origin,
            wire::Clock clock, const FileDescriptor& signals, TraceSink& sink,
            SessionSocket& socket, Display& display)
      : options_(options),
        clock_(clock),
        signals_(signals),
        socket_(socket),
        display_(display),
        scope_(scope),
        drain_(queue_),
        sampler_(options.sample_hz, queue_),
        gpu_sampler_(options.counter_hz, queue_),
        assembler_(sink, origin, clock, scope_, progress_,
                   [this](SegmentId id) { drain_.set_aside(id); }) {}

  Outcome run(pid_t primary) {
    Supervisor::Options options{options_.wait, clock_, options_.command.front(), options_.quiet};
    Supervisor::Wanted wanted{[this, primary](pid_t pid, const std::optional<int>& rank) {
                                return (scope_.options().children || pid == primary) &&
                                       scope_.options().wants_rank(rank);
                              },
                              [this] { return scope_.over(); }};
    supervisor_.emplace(primary, options, std::move(wanted), signals_, socket_, drain_, queue_,
                        [this] { display_.update(progress_); });
    if (std::optional<ProcessDescription> process = describe_process(primary)) {
      // The command may have ended before its environment could be read; it had the recorder's.
      if (!process->launched.rank) process->launched = launched_self();
      queue_.send(ProcessSeen{primary, process->parent_pid,
                              boottime_to_monotonic(process->start_boottime_ns),
                              std::move(process->name), std::move(process->command_line),
                              std::move(process->launched), process->without_session});
    }
    std::thread assembling = guarded_thread(trouble_[0], [this] {
      try {
        assembler_.run(queue_);
      } catch (...) {
        queue_.abandon();  // else the drain would wait for room in the queue for ever
        throw;
      }
    });
    if (!assembling.joinable()) queue_.abandon();
    std::thread draining = guarded_thread(trouble_[1], [this] { drain_.run(); });
    std::thread sampling = guarded_thread(trouble_[2], [this] { sampler_.run(); });
    std::thread asking_gpus = guarded_thread(trouble_[3], [this] { gpu_sampler_.run(); });
    Outcome outcome = supervisor_->run();
    if (options_.on_over) options_.on_over();
    display_.finishing();
    sampler_.finish();
    gpu_sampler_.finish();
    drain_.finish(outcome.scope_over);
    join(sampling);
    join(asking_gpus);
    join(draining);
    queue_.close();
    join(assembling);
    return outcome;
  }

  /// To be called when `run` ended because nothing more was wanted; returns when the command has
  /// ended.
  Outcome outlive(int signal) {
    queue_.abandon();
    return supervisor_->outlive(signal);
  }

  TraceAssembler& assembler() { return assembler_; }
  const Scope& scope() const { return scope_; }
  const GpuSampler& gpus() const { return gpu_sampler_; }
  std::int64_t events() const { return progress_.events; }
  /// What went wrong in the recorder itself; empty when nothing did.
  std::string trouble() const {
    for (const std::string& text : trouble_) {
      if (!text.empty()) return text;
    }
    return "";
  }

 private:
  const RecordOptions& options_;
  wire::Clock clock_;
  const FileDescriptor& signals_;
  SessionSocket& socket_;
  Display& display_;
  MessageQueue queue_;
  Progress progress_;
  Scope scope_;
  Drain drain_;
  Sampler sampler_;
  GpuSampler gpu_sampler_;
  TraceAssembler assembler_;
  std::optional<Supervisor> supervisor_;
  std::string trouble_[4];
};

}  // namespace

RecordResult record(const RecordOptions& options) {
  if (options.command.empty())
    fail_usage("no command to record. Add it after the options: -- python3 train.py");
  const ScopeOptions scope = parse_scope(options.scope);
  fill_closed_standard_streams();
  std::filesystem::path program = find_command(options.command.front());
  run_if_left_out(options, scope, program);
  std::filesystem::path library = find_inject_library(options.io);
  const PytorchHook pytorch = choose_pytorch_hook(options);
  wire::Clock clock = choose_clock(options.clock);
  SignalState signals;
  FileDescriptor arriving_signals = prepare_to_supervise();
  SessionSocket socket;
  ClockReading origin = read_clocks();
  NewTrace created(options);
  TraceSink& sink = created.sink();
  if (options.keep_arguments) sink.keep_arguments();
  std::filesystem::path output = sink.path();
  Display display(options.quiet, options.live, output.string());
  describe_run(sink, options, origin, clock);
  sink.commit();

  // Without libnvidia-ml (in a container) this process cannot sample the GPUs, but CUPTI in the
  // program can.
  CudaOptions cuda = options.cuda;
  cuda.environment = options.counter_hz > 0 && cuda.on && !Nvml::is_installed();
  RecordedEnvironment environment(library, socket.path(), options.nvtx, cuda, options.io);
  if (options.nccl_profiler) environment.add_nccl_profiler(library);
  if (!pytorch.folder.empty()) environment.add_pytorch(pytorch.folder, pytorch.level);
  if (scope.choice == Choice::kCudaProfiler)
    environment.add(fmt::format("{}=1", wire::kCudaProfilerVariable));
  for (const std::string& note : environment.notes()) display.note(note);
  const pid_t primary = launch(program, options.command, environment.variables(), signals);
  created.keep();
  display.started();
  if (options.on_begun) options.on_begun(output);
  raise_descriptor_limit();  // after the launch: the program keeps its own limit

  Recording recording(options, scope, origin, clock, arriving_signals, sink, socket, display);
  Summary summary;
  summary.outcome = recording.run(primary);
  TraceAssembler& assembler = recording.assembler();
  assembler.finish();
  summary.command = options.command.front();
  summary.file = output;
  // The run's own end, not the end of writing: a slow disk does not make the run longer.
  const TimeNs now{summary.outcome.ended_monotonic_ns - origin.monotonic_ns};
  summary.duration = recording.scope().end().value_or(now) - TimeNs{0};
  summary.scope = recording.scope().text(now);
  summary.kept = recording.scope().kept(now);
  summary.events = recording.events();
  summary.threads = static_cast<std::int64_t>(assembler.processes().thread_count());
  summary.injected = static_cast<std::int64_t>(assembler.processes().injected_count());
  summary.processes = static_cast<std::int64_t>(assembler.processes().process_count());
  summary.failed_rank = assembler.processes().first_failed_rank();
  summary.refusals = assembler.refusals();
  summary.without_session = assembler.processes().without_session();
  summary.busiest_thread_records = assembler.busiest_thread_records();
  summary.event_cost_ns = assembler.event_cost_ns();
  summary.cuda = assembler.cuda_overhead_ns() > 0;
  summary.recorder_cpu = own_cpu_time();
  summary.suggest_report = options.suggest_report;
  summary.nvtx = options.nvtx;
  summary.pytorch = pytorch.asked;
  summary.settings = sink.settings();
  summary.io_calls = assembler.io_calls();
  describe_outcome(sink, summary, assembler);
  recording.scope().describe(sink, now, typed(options.scope));
  sink.set_meta(trace::meta::kGpuCounters, recording.gpus().unavailable().empty()
                                               ? "on"
                                               : "off: " + recording.gpus().unavailable());
  sink.finish();
  summary.failure = sink.failure().empty() ? recording.trouble() : sink.failure();
  summary.losses = sink.counted_losses();
  std::error_code error;
  std::uintmax_t bytes = std::filesystem::file_size(output, error);
  if (!error) summary.file_bytes = static_cast<std::int64_t>(bytes);
  display.finished(options.quiet ? failure_text(summary) : summary_text(summary));
  const Outcome outcome =
      summary.outcome.scope_over ? recording.outlive(options.kill) : summary.outcome;
  return {outcome.exit_status(), output};
}

}  // namespace headway::record
