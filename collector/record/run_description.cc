// SPDX-License-Identifier: MIT
#include "collector/record/run_description.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "collector/record/system/environment.h"
#include "trace/meta_keys.h"
#include "trace/tables/meta_data_capture.h"
#include "trace/tables/session_start.h"

namespace headway::record {
namespace {

namespace meta = trace::meta;

std::string join_command(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

std::string clock_name(wire::Clock clock) {
  return clock == wire::Clock::kTsc ? "tsc" : "realtime";
}

/// The names that Nsight Systems gives these.
void write_capture_parameters(TraceSink& sink, const RecordOptions& options,
                              const std::string& folder) {
  auto add = [&](std::string_view name, std::string_view value) {
    sink.add<trace::tables::MetaDataCapture>({sink.keep(name), sink.keep(value)});
  };
  if (options.nvtx) add("CAPTURE_EVENT_TYPE", "NvtxEvents");
  if (options.io) add("CAPTURE_EVENT_TYPE", "Io");
  if (options.cuda.on) add("CAPTURE_EVENT_TYPE", "Cuda");
  add("DEVICE_TYPE", "Unix");
  add("PROCESS_0:COMMAND", options.command.front());
  for (std::size_t i = 1; i < options.command.size(); ++i)
    add(fmt::format("PROCESS_0:ARGUMENT_{}", i - 1), options.command[i]);
  add("PROCESS_0:WORKING_DIR", folder);
  for (const auto& [name, value] : explaining_environment())
    add("PROCESS_0:ENVIRONMENT_VARIABLE", fmt::format("{}=\"{}\"", name, value));
}

}  // namespace

void describe_run(TraceSink& sink, const RecordOptions& options, const ClockReading& origin,
                  wire::Clock clock) {
  std::error_code error;
  std::string folder = std::filesystem::current_path(error).string();
  Machine machine = describe_machine();
  sink.set_meta(meta::kToolVersion, options.tool_version);
  sink.set_meta(meta::kProducer, "headway record");
  sink.set_meta(meta::kCommand, join_command(options.command));
  sink.set_meta(meta::kWorkingDirectory, folder);
  sink.set_meta(meta::kHost, machine.host);
  sink.set_meta(meta::kKernel, machine.kernel);
  sink.set_meta(meta::kCpu, machine.cpu);
  sink.set_meta(meta::kCpuCount, std::to_string(machine.cpu_count));
  sink.set_meta(meta::kMemoryBytes, std::to_string(machine.memory_bytes));
  sink.set_meta(meta::kClock, clock_name(clock));
  for (const auto& [name, value] : explaining_environment())
    sink.set_meta(std::string(meta::kEnvironmentPrefix) + name, value);
  write_capture_parameters(sink, options, folder);

  std::time_t seconds = static_cast<std::time_t>(origin.realtime_ns / 1'000'000'000);
  trace::tables::SessionStart::Row row;
  row.utc_epoch_ns = origin.realtime_ns;
  row.utc_time = sink.keep(fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(seconds)));
  row.local_time = sink.keep(fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::localtime(seconds)));
  row.system_clock_ns = origin.monotonic_ns;
  sink.add<trace::tables::SessionStart>(row);
}

void describe_outcome(TraceSink& sink, const Summary& summary, const TraceAssembler& assembler) {
  const Outcome& outcome = summary.outcome;
  sink.set_meta(meta::kDurationNs, std::to_string(summary.duration.ns));
  if (outcome.exit_code) sink.set_meta(meta::kExitCode, std::to_string(*outcome.exit_code));
  if (outcome.signal) sink.set_meta(meta::kExitSignal, std::to_string(*outcome.signal));
  if (outcome.interrupted) sink.set_meta(meta::kInterrupted, "1");
  sink.set_meta(meta::kCuda,
                assembler.cuda().empty() ? "off: no process initialised CUDA" : assembler.cuda());
  sink.set_meta(meta::kRecords, std::to_string(assembler.processes().records()));
  sink.set_meta(meta::kRecorderCpuNs, std::to_string(summary.recorder_cpu.ns));
  if (summary.event_cost_ns > 0)
    sink.set_meta(meta::kOverheadNsPerEvent, fmt::format("{:.1f}", summary.event_cost_ns));
}

}  // namespace headway::record
