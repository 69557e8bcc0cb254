// SPDX-License-Identifier: MIT
// Everything that is not an event: meta, processes, threads, devices, streams, settings, the op
// graph, losses.
#include <charconv>
#include <string_view>

#include "common/secrets.h"
#include "trace/load/context.h"
#include "trace/load/foreign_values.h"
#include "trace/load/live.h"
#include "trace/meta_keys.h"
#include "trace/tables/all.h"

namespace headway::trace::load_detail {
namespace {

std::optional<TimeNs> time_or_none(const std::optional<std::int64_t>& ns) {
  if (!ns || !possible(*ns)) return std::nullopt;
  return TimeNs{*ns};
}

std::optional<int> int_or_none(const std::optional<std::int64_t>& value) {
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

/// Reads which program made an export of Nsight Systems: from META_DATA_EXPORT; exports from before
/// 2022 do not say it.
void load_export_meta(Context& context) {
  Trace& trace = context.trace;
  if (trace.meta.contains(meta::kSchemaVersionKey)) return;
  trace.meta[std::string(meta::kProducer)] = "Nsight Systems";
  std::vector<std::string> columns = context.db.columns_of("META_DATA_EXPORT");
  if (columns.size() < 2) return;
  sqlite::Statement statement = context.db.prepare(
      "SELECT name, value FROM META_DATA_EXPORT WHERE name IN "
      "('EXPORT_PRODUCT_VERSION', 'EXPORT_HOST')");
  while (statement.step()) {
    bool version = statement.text(0) == "EXPORT_PRODUCT_VERSION";
    trace.meta[std::string(version ? meta::kToolVersion : meta::kHost)] =
        std::string(statement.text(1));
  }
}

bool keeps_arguments(const Trace& trace) {
  return trace.meta_value(meta::kArguments) == meta::kArgumentsKept;
}

/// Masks secrets in command lines, so that no report shows them: other recorders store passwords
/// and tokens, and so did older versions of Headway.
void mask_arguments(Trace& trace) {
  if (keeps_arguments(trace)) return;
  if (auto command = trace.meta.find(meta::kCommand); command != trace.meta.end())
    command->second = mask_secrets(command->second);
  for (Process& process : trace.processes)
    process.command_line = mask_secrets(process.command_line);
  for (auto& [name, value] : trace.settings) {
    if (names_secret(name)) value = kMasked;
  }
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
  trace.meta.erase(std::string(meta::kLive));
  if (!trace.complete && still_runs(trace.meta_value(meta::kRecorder)))
    trace.meta[std::string(meta::kLive)] = "1";
  load_export_meta(context);
  std::string_view world = trace.meta_value(meta::kWorldSize);
  std::int64_t ranks = 0;
  std::from_chars(world.data(), world.data() + world.size(), ranks);
  trace.world_size = ranks_of(ranks);
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
                 &Own::Row::injected, &Own::Row::pid,
                 &Own::Row::rank>::run(context.db, [&](std::int64_t, const Own::Row& row) {
    Process& process = trace.processes[context.process(row.global_pid).value];
    process.parent_pid = static_cast<std::int32_t>(row.parent_pid.value_or(0));
    process.command_line = std::string(row.command_line.value_or(""));
    process.start = {possible(row.start) ? row.start : 0};
    process.end = time_or_none(row.end);
    process.exit_code = int_or_none(row.exit_code);
    process.signal = int_or_none(row.signal);
    process.injected = row.injected != 0;
    if (row.pid) process.pid = static_cast<std::int32_t>(*row.pid);
    process.rank = rank_of(row.rank.value_or(0));
  });
  using Nsys = tables::Processes;
  sqlite::Select<Nsys, &Nsys::Row::global_pid, &Nsys::Row::process_name>::run(
      context.db, [&](std::int64_t, const Nsys::Row& row) {
        if (row.global_pid)
          trace.processes[context.process(*row.global_pid).value].name =
              std::string(row.process_name.value_or(""));
      });
  using OwnThread = tables::Thread;
  sqlite::Select<OwnThread, &OwnThread::Row::global_tid, &OwnThread::Row::tid,
                 &OwnThread::Row::thread_name>::run(context.db, [&](std::int64_t,
                                                                    const OwnThread::Row& row) {
    Thread& thread = trace.threads[context.thread(row.global_tid).value];
    thread.tid = static_cast<std::int32_t>(row.tid);
    thread.name = std::string(row.thread_name);
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
                 &Own::Row::cores, &Own::Row::device_name, &Own::Row::compute_major,
                 &Own::Row::compute_minor, &Own::Row::total_memory, &Own::Row::memory_bandwidth,
                 &Own::Row::clock_rate>::run(context.db, [&](std::int64_t, const Own::Row& row) {
    auto type = row.type == 3 ? DeviceType::kSimulated : DeviceType::kHost;
    Device& device =
        trace.devices[context
                          .device(DeviceType::kHost, context.process(row.global_pid), row.device_id)
                          .value];
    device.type = type;
    device.cores = count_of(row.cores);
    device.name = std::string(row.device_name);
    device.compute_major = count_of(row.compute_major.value_or(0));
    device.compute_minor = count_of(row.compute_minor.value_or(0));
    device.memory_bytes = bytes_of(row.total_memory.value_or(0));
    device.memory_bytes_per_second = bytes_of(row.memory_bandwidth.value_or(0));
    device.max_clock_hz = count_of<std::int64_t>(row.clock_rate.value_or(0));
  });
  load_gpus(context);
  using Stream = tables::Stream;
  sqlite::Select<Stream, &Stream::Row::global_pid, &Stream::Row::device_id, &Stream::Row::stream_id,
                 &Stream::Row::stream_name,
                 &Stream::Row::device_type>::run(context.db, [&](std::int64_t,
                                                                 const Stream::Row& row) {
    ProcessId process = context.process(row.global_pid);
    DeviceId device = row.device_type.value_or(0) == 1
                          ? context.cuda_device(process, row.device_id)
                          : context.device(DeviceType::kHost, process, row.device_id);
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
    op.phase = enum_or(row.phase, Phase::kNone);
    op.name = std::string(row.op_name);
    op.type = std::string(row.type);
    op.shape = std::string(row.shape);
    op.flops = flops_of(row.flops);
    op.bytes = bytes_of(row.bytes);
    op.output_bytes = bytes_of(row.output_bytes);
    for (std::string_view rest = row.inputs; !rest.empty();) {
      std::size_t space = std::min(rest.find(' '), rest.size());
      std::int64_t id = 0;
      if (std::from_chars(rest.data(), rest.data() + space, id).ec == std::errc{})
        op.inputs.push_back(id);
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
    trace.graph_ops.push_back(std::move(op));
  });
  using Setting = tables::Setting;
  sqlite::Select<Setting, &Setting::Row::setting, &Setting::Row::value>::run(
      context.db, [&](std::int64_t, const Setting::Row& row) {
        trace.settings.emplace_back(row.setting, row.value);
      });
}

}  // namespace

/// See Context::only_pid.
std::int64_t find_only_pid(const Context& context) {
  std::vector<std::string> columns = context.db.columns_of(tables::Kernel::name);
  bool says = std::find(columns.begin(), columns.end(), "globalPid") != columns.end();
  columns = context.db.columns_of(tables::Runtime::name);
  bool callers = std::find(columns.begin(), columns.end(), "globalTid") != columns.end();
  if (says || !callers) return 0;
  sqlite::Statement statement = context.db.prepare(
      "SELECT DISTINCT globalTid & ~0xffffff FROM CUPTI_ACTIVITY_KIND_RUNTIME LIMIT 2");
  std::int64_t pid = statement.step() ? statement.int64(0) : 0;
  return statement.step() ? 0 : pid;
}

void load_inventory(Context& context) {
  load_meta(context);
  context.only_pid = find_only_pid(context);
  load_processes(context);
  load_devices(context);
  load_graph(context);
  mask_arguments(context.trace);
  using Loss = tables::Loss;
  sqlite::Select<Loss, &Loss::Row::counter, &Loss::Row::severity, &Loss::Row::count,
                 &Loss::Row::text>::run(context.db, [&](std::int64_t, const Loss::Row& row) {
    context.trace.losses.push_back(
        {std::string(row.counter), std::string(row.severity), std::string(row.text), row.count});
  });
}

}  // namespace headway::trace::load_detail
