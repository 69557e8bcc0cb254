// SPDX-License-Identifier: MIT
// Everything that is not an event: meta, processes, threads, devices, streams, settings, the op
// graph, losses, counters.
#include <fmt/format.h>

#include <ctime>
#include <set>

#include "trace/meta_keys.h"
#include "trace/save/context.h"
#include "trace/tables/all.h"

namespace headway::trace::save_detail {
namespace {

std::optional<std::int64_t> if_not(std::int64_t value, std::int64_t absent) {
  if (value == absent) return std::nullopt;
  return value;
}

template <class T>
std::optional<std::int64_t> widened(const std::optional<T>& value) {
  if (!value) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::string iso_time(std::int64_t utc_ns) {
  std::time_t seconds = utc_ns / 1'000'000'000;
  std::tm parts{};
  if (!::gmtime_r(&seconds, &parts)) return "";
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

void save_meta(Context& context, const SaveOptions& options) {
  const Trace& trace = context.trace;
  TraceWriter& writer = context.writer;
  for (const auto& [key, value] : trace.meta) {
    // These keys describe the file itself, not the recording: the file that is written has its own.
    const bool of_file = key == meta::kSchemaVersionKey || key == meta::kState ||
                         key == meta::kRecorder || key == meta::kLive;
    if (!of_file) writer.set_meta(key, value);
  }
  // The original recording, over any number of imports.
  if (!trace.meta.contains(meta::kSourceFile)) writer.set_meta(meta::kSourceFile, trace.path);
  if (!options.imported_by.empty()) writer.set_meta(meta::kImportedBy, options.imported_by);
  if (!trace.meta.contains(meta::kDurationNs))
    writer.set_meta(meta::kDurationNs, fmt::format("{}", trace.end.ns));
  if (trace.world_size > 0) writer.set_meta(meta::kWorldSize, fmt::format("{}", trace.world_size));
  if (trace.start_utc_ns == 0) return;
  tables::SessionStart::Row start;
  start.utc_epoch_ns = trace.start_utc_ns;
  start.utc_time = writer.keep(iso_time(trace.start_utc_ns));
  writer.add<tables::SessionStart>(start);
}

void save_processes(Context& context) {
  const Trace& trace = context.trace;
  for (std::size_t i = 0; i < trace.processes.size(); ++i) {
    const Process& process = trace.processes[i];
    tables::Process::Row row;
    row.global_pid = context.process_key[i];
    row.parent_pid = if_not(process.parent_pid, 0);
    if (!process.command_line.empty()) row.command_line = process.command_line;
    row.start = process.start.ns;
    if (process.end) row.end = process.end->ns;
    row.exit_code = widened(process.exit_code);
    row.signal = widened(process.signal);
    row.injected = process.injected;
    row.pid = process.pid;
    row.rank = if_not(process.rank, 0);
    context.writer.add<tables::Process>(row);
    context.writer.add<tables::Processes>(
        {context.process_key[i], std::int64_t{process.pid}, process.name});
  }
  for (std::size_t i = 0; i < trace.threads.size(); ++i) {
    const Thread& thread = trace.threads[i];
    context.writer.add<tables::Thread>({context.thread_key[i], thread.tid, thread.name});
    if (!thread.name.empty()) {
      context.writer.add<tables::ThreadNames>(
          {context.writer.intern(thread.name), std::nullopt, context.thread_key[i]});
    }
  }
}

void save_cuda_device(Context& context, const Device& device) {
  tables::TargetInfoGpu::Row row;
  row.id = device.ordinal;
  row.gpu_name = device.name;
  row.total_memory = if_not(device.memory_bytes, 0);
  row.memory_bandwidth = if_not(device.memory_bytes_per_second, 0);
  row.clock_rate = if_not(device.max_clock_hz, 0);
  row.sm_count = if_not(device.cores, 0);
  row.sm_major = if_not(device.compute_major, 0);
  row.sm_minor = if_not(device.compute_minor, 0);
  context.writer.add<tables::TargetInfoGpu>(row);
}

/// Device 0 of a process is GPU 0 here: the trace has resolved CUDA_VISIBLE_DEVICES already. Tools
/// for Nsight Systems' exports find a GPU's name through this table only.
void save_gpus_of_processes(Context& context) {
  const Trace& trace = context.trace;
  std::set<std::pair<std::int32_t, std::int32_t>> used;
  for (const Stream& stream : trace.streams) {
    const Device& device = trace.devices[stream.device.value];
    if (device.type != DeviceType::kCuda || !stream.process.valid()) continue;
    std::int32_t pid = trace.processes[stream.process.value].pid;
    if (!used.emplace(pid, device.ordinal).second) continue;
    tables::CudaDevice::Row row;
    row.gpu_id = device.ordinal;
    row.cuda_id = device.ordinal;
    row.pid = pid;
    row.multiprocessors = if_not(device.cores, 0);
    context.writer.add<tables::CudaDevice>(row);
  }
}

void save_devices(Context& context) {
  const Trace& trace = context.trace;
  for (const Device& device : trace.devices) {
    if (device.type == DeviceType::kCuda) {
      save_cuda_device(context, device);
      continue;
    }
    tables::Device::Row row;
    if (device.process.valid()) row.global_pid = context.process_key[device.process.value];
    row.device_id = device.ordinal;
    row.type = static_cast<std::int32_t>(device.type);
    row.cores = device.cores;
    row.device_name = device.name;
    row.compute_major = if_not(device.compute_major, 0);
    row.compute_minor = if_not(device.compute_minor, 0);
    row.total_memory = if_not(device.memory_bytes, 0);
    row.memory_bandwidth = if_not(device.memory_bytes_per_second, 0);
    row.clock_rate = if_not(device.max_clock_hz, 0);
    context.writer.add<tables::Device>(row);
  }
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Stream& stream = trace.streams[i];
    tables::Stream::Row row;
    row.global_pid = context.pid(StreamId::from(i));
    row.device_id = trace.devices[stream.device.value].ordinal;
    row.stream_id = stream.ordinal;
    row.stream_name = stream.name;
    if (context.is_cuda(StreamId::from(i))) row.device_type = 1;
    context.writer.add<tables::Stream>(row);
  }
  save_gpus_of_processes(context);
}

void save_graph(Context& context) {
  for (const GraphOp& op : context.trace.graph_ops) {
    tables::GraphOp::Row row;
    if (op.process.valid()) row.global_pid = context.process_key[op.process.value];
    row.op = op.op;
    row.forward_op = if_not(op.forward_op, conventions::kAbsent);
    row.phase = static_cast<std::int32_t>(op.phase);
    row.op_name = op.name;
    row.type = op.type;
    row.shape = op.shape;
    row.inputs = context.writer.keep(fmt::format("{}", fmt::join(op.inputs, " ")));
    row.flops = op.flops;
    row.bytes = op.bytes;
    row.output_bytes = op.output_bytes;
    context.writer.add<tables::GraphOp>(row);
  }
  for (const auto& [name, value] : context.trace.settings)
    context.writer.add<tables::Setting>({0, name, value});
}

/// The part of a loss count that a reader of the saved file finds again by itself, so that it is
/// not counted twice.
std::int64_t found_again(const Trace& trace, std::string_view counter) {
  std::int64_t count = 0;
  const DeviceOps& ops = trace.device_ops;
  if (counter == declaration_of(Loss::kOrphanDeviceOp).name) {
    for (CallId call : ops.call) count += !call.valid();
  } else if (counter == declaration_of(Loss::kOpBeforeLaunch).name) {
    for (std::size_t i = 0; i < ops.size(); ++i)
      count += ops.call[i].valid() && ops.start[i] < trace.calls.start[ops.call[i].value];
  }
  return count;
}

std::int64_t duplicates(const Context& context) {
  const Calls& calls = context.trace.calls;
  std::vector<std::pair<std::uint32_t, std::int64_t>> used;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (context.correlation[i] != 0)
      used.emplace_back(context.trace.threads[calls.thread[i].value].process.value,
                        context.correlation[i]);
  }
  std::sort(used.begin(), used.end());
  auto end = std::unique(used.begin(), used.end());
  return used.end() - end;
}

void save_losses(Context& context) {
  for (const LossCount& loss : context.trace.losses) {
    std::int64_t again = loss.name == declaration_of(Loss::kDuplicateCorrelation).name
                             ? duplicates(context)
                             : found_again(context.trace, loss.name);
    if (loss.count <= again) continue;
    context.writer.add<tables::Loss>(
        {loss.name, loss.severity, loss.count - again, std::nullopt, loss.text});
  }
}

}  // namespace

void save_inventory(Context& context, const SaveOptions& options) {
  save_meta(context, options);
  save_processes(context);
  save_devices(context);
  save_graph(context);
  save_losses(context);
}

void save_counters(Context& context) {
  const Trace& trace = context.trace;
  for (std::size_t i = 0; i < trace.counters.size(); ++i) {
    const CounterSeries& series = trace.counters[i];
    tables::CounterSeries::Row row;
    row.id = static_cast<std::int64_t>(i + 1);
    row.series = series.name;
    row.unit = series.unit;
    row.description = series.description;
    if (series.process.valid()) row.global_pid = context.process_key[series.process.value];
    if (series.device) row.device_id = *series.device;
    context.writer.add<tables::CounterSeries>(row);
    for (std::size_t k = 0; k < series.time.size(); ++k)
      context.writer.add<tables::Counter>({row.id, series.time[k].ns, series.value[k]});
  }
}

}  // namespace headway::trace::save_detail
