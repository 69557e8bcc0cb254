// SPDX-License-Identifier: MIT
#include "collector/record/run_description.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <tuple>

#include "collector/record/environment/environment.h"
#include "collector/record/environment/git_commit.h"
#include "collector/record/environment/launched_rank.h"
#include "common/secrets.h"
#include "common/shell_word.h"
#include "trace/load/live.h"
#include "trace/meta_keys.h"
#include "trace/tables/enum_cuda_dev_mem_event_oper.h"
#include "trace/tables/enum_cuda_mem_kind.h"
#include "trace/tables/enum_cuda_memcpy_oper.h"
#include "trace/tables/enum_cupti_overhead_type.h"
#include "trace/tables/enum_cupti_stream_type.h"
#include "trace/tables/enum_cupti_sync_type.h"
#include "trace/tables/enum_nsys_event_class.h"
#include "trace/tables/enum_nsys_event_type.h"
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

/// Writes the capture parameters under Nsight Systems' names.
void write_capture_parameters(TraceSink& sink, const RecordOptions& options,
                              const std::vector<std::string>& command, const std::string& folder) {
  auto add = [&](std::string_view name, std::string_view value) {
    sink.add<trace::tables::MetaDataCapture>({sink.keep(name), sink.keep(value)});
  };
  if (options.nvtx) add("CAPTURE_EVENT_TYPE", "NvtxEvents");
  if (options.io) add("CAPTURE_EVENT_TYPE", "Io");
  if (options.cuda.on) add("CAPTURE_EVENT_TYPE", "Cuda");
  add("DEVICE_TYPE", "Unix");
  add("PROCESS_0:COMMAND", command.front());
  for (std::size_t i = 1; i < command.size(); ++i)
    add(fmt::format("PROCESS_0:ARGUMENT_{}", i - 1), command[i]);
  add("PROCESS_0:WORKING_DIR", folder);
  for (const auto& [name, value] : explaining_environment())
    add("PROCESS_0:ENVIRONMENT_VARIABLE", fmt::format("{}=\"{}\"", name, value));
}

/// Writes the names of enum values, which queries on Nsight Systems' exports join.
template <class Table>
void write_names(TraceSink& sink,
                 std::initializer_list<std::tuple<int, std::string_view, std::string_view>> names) {
  for (const auto& [id, symbol, label] : names) sink.add<Table>({id, symbol, label});
}

void write_enumerations(TraceSink& sink) {
  namespace tables = trace::tables;
  write_names<tables::EnumCudaMemcpyOper>(sink, {{0, "CUDA_MEMCPY_KIND_UNKNOWN", "Unknown"},
                                                 {1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"},
                                                 {2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"},
                                                 {3, "CUDA_MEMCPY_KIND_HTOA", "Host-to-Array"},
                                                 {4, "CUDA_MEMCPY_KIND_ATOH", "Array-to-Host"},
                                                 {5, "CUDA_MEMCPY_KIND_ATOA", "Array-to-Array"},
                                                 {6, "CUDA_MEMCPY_KIND_ATOD", "Array-to-Device"},
                                                 {7, "CUDA_MEMCPY_KIND_DTOA", "Device-to-Array"},
                                                 {8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device"},
                                                 {9, "CUDA_MEMCPY_KIND_HTOH", "Host-to-Host"},
                                                 {10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer"}});
  write_names<tables::EnumCudaMemKind>(
      sink, {{0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"},
             {1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"},
             {2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device"},
             {3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", "Array"},
             {4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", "Managed"},
             {5, "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", "Device Static"},
             {6, "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", "Managed Static"},
             {7, "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", "Unknown"}});
  write_names<tables::EnumCudaDevMemEventOper>(
      sink, {{0, "CUDA_DEV_MEM_EVENT_OPR_ALLOCATION", "Allocation"},
             {1, "CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION", "Deallocation"}});
  write_names<tables::EnumCuptiSyncType>(
      sink, {{0, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN", "Unknown"},
             {1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "Event sync"},
             {2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", "Stream wait sync"},
             {3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream sync"},
             {4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", "Context sync"}});
  write_names<tables::EnumCuptiOverheadType>(
      sink, {{0, "OVERHEAD_UNDEFINED", "Undefined"},
             {1, "OVERHEAD_UNKNOWN", "Unknown"},
             {2, "OVERHEAD_DRIVER_COMPILER", "Driver JIT compiler (CUDA)"},
             {3, "OVERHEAD_CUPTI_BUFFER_FLUSH", "Buffer flush (Profiler)"},
             {4, "OVERHEAD_CUPTI_INSTRUMENTATION", "Instrumentation (Profiler)"},
             {5, "OVERHEAD_CUPTI_RESOURCE", "Resource creation/destruction (Profiler)"},
             {6, "OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING", "Runtime module loading (CUDA)"},
             {7, "OVERHEAD_LAZY_FUNCTION_LOADING", "Lazy function loading (CUDA)"},
             {8, "OVERHEAD_COMMAND_BUFFER_FULL", "Command buffer full (CUDA)"}});
  write_names<tables::EnumCuptiStreamType>(
      sink, {{0, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN", "Unknown stream type"},
             {1, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT", "Default stream"},
             {2, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING", "Non-blocking stream"},
             {3, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL", "Null stream"}});
  write_names<tables::EnumNsysEventType>(sink, {{33, "NvtxCategory", "NvtxCategory"},
                                                {34, "NvtxMark", "NvtxMark"},
                                                {59, "NvtxPushPopRange", "NvtxPushPopRange"},
                                                {60, "NvtxStartEndRange", "NvtxStartEndRange"},
                                                {75, "NvtxDomainCreate", "NvtxDomainCreate"},
                                                {97, "NvtxNameCudaDevice", "NvtxNameCudaDevice"},
                                                {99, "NvtxNameCudaStream", "NvtxNameCudaStream"}});
  write_names<tables::EnumNsysEventClass>(
      sink, {{0, "TRACE_PROCESS_EVENT_CUDA_RUNTIME", "CUDA runtime"},
             {1, "TRACE_PROCESS_EVENT_CUDA_DRIVER", "CUDA driver"},
             {103, "TRACE_PROCESS_EVENT_CUDA_OVERHEAD", "CUDA overhead"}});
}

/// Writes what a launcher told: the recorder itself, at the start; the first rank, at the end.
void describe_launch(TraceSink& sink, const Launched& launched) {
  auto number = [&](std::string_view key, std::optional<int> value) {
    if (value) sink.set_meta(key, std::to_string(*value));
  };
  if (!launched.launcher.empty()) sink.set_meta(meta::kLauncher, launched.launcher);
  number(meta::kWorldSize, launched.world_size);
  number(meta::kLocalWorldSize, launched.local_size);
  number(meta::kNode, launched.node);
  number(meta::kNodeCount, launched.nodes);
  if (!launched.job.empty()) sink.set_meta(meta::kJob, launched.job);
}

}  // namespace

void describe_run(TraceSink& sink, const RecordOptions& options, const ClockReading& origin,
                  wire::Clock clock) {
  std::error_code error;
  std::string folder = std::filesystem::current_path(error).string();
  Machine machine = describe_machine();
  sink.set_meta(meta::kToolVersion, options.tool_version);
  sink.set_meta(meta::kProducer, "headway record");
  sink.set_meta(meta::kRecorder, trace::this_process());
  const std::vector<std::string> command =
      options.keep_arguments ? options.command : mask_secrets(options.command);
  sink.set_meta(meta::kCommand, join_command(command));
  if (options.keep_arguments) sink.set_meta(meta::kArguments, meta::kArgumentsKept);
  sink.set_meta(meta::kWorkingDirectory, folder);
  if (!options.name.empty()) sink.set_meta(meta::kName, options.name);
  if (const std::string commit = checked_out_commit(folder); !commit.empty())
    sink.set_meta(meta::kGitCommit, commit);
  sink.set_meta(meta::kHost, machine.host);
  sink.set_meta(meta::kKernel, machine.kernel);
  sink.set_meta(meta::kCpu, machine.cpu);
  sink.set_meta(meta::kCpuCount, std::to_string(machine.cpu_count));
  sink.set_meta(meta::kMemoryBytes, std::to_string(machine.memory_bytes));
  sink.set_meta(meta::kClock, clock_name(clock));
  for (const auto& [name, value] : explaining_environment())
    sink.set_meta(std::string(meta::kEnvironmentPrefix) + name, value);
  write_capture_parameters(sink, options, command, folder);
  write_enumerations(sink);
  const Launched self = launched_self();
  describe_launch(sink, self);
  if (self.rank) sink.set_meta(meta::kRank, std::to_string(*self.rank));
  if (self.local_rank) sink.set_meta(meta::kLocalRank, std::to_string(*self.local_rank));

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
  describe_launch(sink, assembler.processes().launched());
  sink.set_meta(meta::kDurationNs, std::to_string(summary.duration.ns));
  if (outcome.exit_code) sink.set_meta(meta::kExitCode, std::to_string(*outcome.exit_code));
  if (outcome.signal) sink.set_meta(meta::kExitSignal, std::to_string(*outcome.signal));
  if (outcome.interrupted) sink.set_meta(meta::kInterrupted, "1");
  sink.set_meta(meta::kCuda,
                assembler.cuda().empty() ? "off: no process initialised CUDA" : assembler.cuda());
  sink.set_meta(meta::kRecords, std::to_string(assembler.processes().records()));
  sink.set_meta(meta::kRecorderCpuNs, std::to_string(summary.recorder_cpu.ns));
  if (assembler.cuda_overhead_ns() > 0)
    sink.set_meta(meta::kCudaOverheadNs, std::to_string(assembler.cuda_overhead_ns()));
  const std::int64_t records = assembler.processes().records();
  if (summary.event_cost_ns > 0) {
    sink.set_meta(meta::kOverheadNsPerEvent, fmt::format("{:.1f}", summary.event_cost_ns));
    sink.set_meta(meta::kOverheadNs,
                  fmt::format("{:.0f}", summary.event_cost_ns * static_cast<double>(records)));
  }
}

}  // namespace headway::record
