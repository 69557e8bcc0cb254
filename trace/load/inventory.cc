// SPDX-License-Identifier: MIT
// Everything that is not an event: meta, processes, threads, devices, streams, settings, the op
// graph, losses.
#include <charconv>
#include <string_view>

#include "trace/load/context.h"
#include "trace/meta_keys.h"
#include "trace/tables/all.h"

namespace headway::trace::load_detail {
namespace {

std::optional<TimeNs> time_or_none(const std::optional<std::int64_t>& ns) {
  if (!ns) return std::nullopt;
  return TimeNs{*ns};
}

std::optional<int> int_or_none(const std::optional<std::int64_t>& value) {
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

void load_meta(Context& context) {
  Trace& trace = context.trace;
  using Meta = tables::Meta;
  sqlite::Select<Meta, &Meta::Row::key, &Meta::Row::value>::run(
      context.db, [&](std::int64_t, const Meta::Row& row) {
        trace.meta[std::string(row.key)] = std::string(row.value);
      });
  // An export of Nsight Systems is written in one go, so it has no state and is complete.
  trace.complete = trace.meta_value(meta::kState) != "recording";
  using Start = tables::SessionStart;
  sqlite::Select<Start, &Start::Row::utc_epoch_ns>::run(
      context.db, [&](std::int64_t, const Start::Row& row) {
        trace.start_utc_ns = row.utc_epoch_ns.value_or(0);
      });
}

void load_processes(Context& context) {
  Trace& trace = context.trace;
  using Own = tables::Process;
  sqlite::Select<Own, &Own::Row::global_pid, &Own::Row::parent_pid, &Own::Row::command_line,
                 &Own::Row::start, &Own::Row::end, &Own::Row::exit_code, &Own::Row::signal,
                 &Own::Row::injected>::run(context.db, [&](std::int64_t, const Own::Row& row) {
    Process& process = trace.processes[context.process(row.global_pid).value];
    process.parent_pid = static_cast<std::int32_t>(row.parent_pid.value_or(0));
    process.command_line = std::string(row.command_line.value_or(""));
    process.start = {row.start};
    process.end = time_or_none(row.end);
    process.exit_code = int_or_none(row.exit_code);
    process.signal = int_or_none(row.signal);
    process.injected = row.injected != 0;
  });
  using Nsys = tables::Processes;
  sqlite::Select<Nsys, &Nsys::Row::global_pid, &Nsys::Row::process_name>::run(
      context.db, [&](std::int64_t, const Nsys::Row& row) {
        if (row.global_pid)
          trace.processes[context.process(*row.global_pid).value].name =
              std::string(row.process_name.value_or(""));
      });
  using Names = tables::ThreadNames;
  sqlite::Select<Names, &Names::Row::name_id, &Names::Row::global_tid>::run(
      context.db, [&](std::int64_t, const Names::Row& row) {
        if (!row.global_tid) return;
        StringId name = context.string(row.name_id.value);
        trace.threads[context.thread(*row.global_tid).value].name =
            std::string(trace.strings[name]);
      });
}

void load_devices(Context& context) {
  Trace& trace = context.trace;
  using Own = tables::Device;
  sqlite::Select<Own, &Own::Row::global_pid, &Own::Row::device_id, &Own::Row::type,
                 &Own::Row::cores,
                 &Own::Row::device_name>::run(context.db, [&](std::int64_t, const Own::Row& row) {
    auto type = row.type == 3 ? DeviceType::kSimulated : DeviceType::kHost;
    Device& device =
        trace.devices[context
                          .device(DeviceType::kHost, context.process(row.global_pid), row.device_id)
                          .value];
    device.type = type;
    device.cores = row.cores;
    device.name = std::string(row.device_name);
  });
  using Gpu = tables::TargetInfoGpu;
  sqlite::Select<Gpu, &Gpu::Row::id, &Gpu::Row::gpu_name, &Gpu::Row::sm_count, &Gpu::Row::sm_major,
                 &Gpu::Row::sm_minor, &Gpu::Row::total_memory, &Gpu::Row::memory_bandwidth,
                 &Gpu::Row::clock_rate>::run(context.db, [&](std::int64_t, const Gpu::Row& row) {
    Device& device =
        trace.devices[context.device(DeviceType::kCuda, ProcessId::none(), row.id).value];
    device.name = std::string(row.gpu_name.value_or(""));
    device.cores = static_cast<std::int32_t>(row.sm_count.value_or(0));
    device.compute_major = static_cast<std::int32_t>(row.sm_major.value_or(0));
    device.compute_minor = static_cast<std::int32_t>(row.sm_minor.value_or(0));
    device.memory_bytes = row.total_memory.value_or(0);
    device.memory_bytes_per_second = row.memory_bandwidth.value_or(0);
    device.max_clock_hz = row.clock_rate.value_or(0);
  });
  using Stream = tables::Stream;
  sqlite::Select<Stream, &Stream::Row::global_pid, &Stream::Row::device_id, &Stream::Row::stream_id,
                 &Stream::Row::stream_name>::run(context.db, [&](std::int64_t,
                                                                 const Stream::Row& row) {
    ProcessId process = context.process(row.global_pid);
    DeviceId device = context.device(DeviceType::kHost, process, row.device_id);
    trace.streams[context.stream(device, process, row.stream_id).value].name =
        std::string(row.stream_name);
  });
}

void load_graph(Context& context) {
  Trace& trace = context.trace;
  using Row = tables::GraphOp::Row;
  sqlite::Select<tables::GraphOp, &Row::global_pid, &Row::op, &Row::forward_op, &Row::phase,
                 &Row::op_name, &Row::type, &Row::shape, &Row::inputs, &Row::flops, &Row::bytes,
                 &Row::output_bytes>::run(context.db, [&](std::int64_t, const Row& row) {
    GraphOp op;
    op.process = context.process(row.global_pid);
    op.op = row.op;
    op.forward_op = row.forward_op.value_or(conventions::kAbsent);
    op.phase = static_cast<Phase>(row.phase);
    op.name = std::string(row.op_name);
    op.type = std::string(row.type);
    op.shape = std::string(row.shape);
    op.flops = row.flops;
    op.bytes = row.bytes;
    op.output_bytes = row.output_bytes;
    for (std::string_view rest = row.inputs; !rest.empty();) {
      std::size_t space = std::min(rest.find(' '), rest.size());
      std::int64_t id = 0;
      if (std::from_chars(rest.data(), rest.data() + space, id).ec == std::errc{})
        op.inputs.push_back(id);
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
    trace.graph_op_index[{op.process, op.op}] = GraphOpId::from(trace.graph_ops.size());
    trace.graph_ops.push_back(std::move(op));
  });
  using Setting = tables::Setting;
  sqlite::Select<Setting, &Setting::Row::setting, &Setting::Row::value>::run(
      context.db, [&](std::int64_t, const Setting::Row& row) {
        trace.settings.emplace_back(row.setting, row.value);
      });
}

}  // namespace

void load_inventory(Context& context) {
  load_meta(context);
  load_processes(context);
  load_devices(context);
  load_graph(context);
  using Loss = tables::Loss;
  sqlite::Select<Loss, &Loss::Row::counter, &Loss::Row::severity, &Loss::Row::count,
                 &Loss::Row::text>::run(context.db, [&](std::int64_t, const Loss::Row& row) {
    context.trace.losses.push_back(
        {std::string(row.counter), std::string(row.severity), std::string(row.text), row.count});
  });
}

}  // namespace headway::trace::load_detail
