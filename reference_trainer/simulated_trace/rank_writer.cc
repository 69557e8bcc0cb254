// SPDX-License-Identifier: MIT
#include "reference_trainer/simulated_trace/rank_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference_trainer/simulated_trace/write_trace.h"
#include "trace/tables/all.h"

namespace headway::trainer::sim {
namespace {

namespace tables = trace::tables;

// Values of Nsight Systems' and CUPTI's enumerations.
constexpr std::int32_t kEventPushPop = 59;
constexpr std::int32_t kEventDomain = 75;
constexpr std::int64_t kDomainHeadway = 1;
constexpr std::int64_t kDomainNccl = 2;
constexpr std::int32_t kContext = 1;
constexpr std::int64_t kKernelTable =
    1;  // HEADWAY_COLLECTIVE.opTable, HEADWAY_DEVICE_OP_DETAIL.opTable
constexpr std::int64_t kCopyTable = 2;
constexpr std::int32_t kIoOpen = 1;  // HEADWAY_IO.op
constexpr std::int32_t kIoRead = 3;

std::optional<std::int64_t> present(std::int64_t value) {
  if (value == conventions::kAbsent) return std::nullopt;
  return value;
}

const char* api_name(DeviceCallKind kind) {
  switch (kind) {
    case DeviceCallKind::kLaunch:
      return "cudaLaunchKernel_v7000";
    case DeviceCallKind::kGraphLaunch:
      return "cudaGraphLaunch_v10000";
    case DeviceCallKind::kOther:
      return "cudaGraphInstantiate_v12000";
    case DeviceCallKind::kCopy:
      return "cudaMemcpyAsync_v3020";
    case DeviceCallKind::kCopyBlocking:
      return "cudaMemcpy_v3020";
    case DeviceCallKind::kEventRecord:
      return "cudaEventRecord_v3020";
    case DeviceCallKind::kStreamWaitEvent:
      return "cudaStreamWaitEvent_v3020";
    case DeviceCallKind::kEventSynchronize:
      return "cudaEventSynchronize_v3020";
    case DeviceCallKind::kStreamSynchronize:
      return "cudaStreamSynchronize_v3020";
    case DeviceCallKind::kDeviceSynchronize:
      return "cudaDeviceSynchronize_v3020";
    case DeviceCallKind::kAllocate:
      return "cudaMalloc_v3020";
    default:
      return "cudaFree_v3020";
  }
}

/// CUpti_ActivitySynchronizationType; 0: none.
std::int32_t sync_type(DeviceCallKind kind) {
  switch (kind) {
    case DeviceCallKind::kEventSynchronize:
      return 1;
    case DeviceCallKind::kStreamWaitEvent:
      return 2;
    case DeviceCallKind::kStreamSynchronize:
      return 3;
    case DeviceCallKind::kDeviceSynchronize:
      return 4;
    default:
      return 0;
  }
}

std::int32_t copy_kind(DeviceOpKind kind) {
  return kind == DeviceOpKind::kCopyHostToDevice   ? 1
         : kind == DeviceOpKind::kCopyDeviceToHost ? 2
                                                   : 8;
}

/// CUpti_ActivityMemoryKind as Nsight Systems stores it.
std::int64_t memory_kind(MemoryKind kind) {
  return kind == MemoryKind::kPageable ? 0 : kind == MemoryKind::kPinned ? 1 : 2;
}

}  // namespace

RankWriter::RankWriter(trace::TraceWriter& writer, const SimulatedRun& run,
                       const Recording& recording, bool alone)
    : writer_(writer),
      run_(run),
      recording_(recording),
      pid_(1000 + recording.rank),
      global_pid_(pid_ << 24),
      gpu_(alone ? 0 : recording.rank) {}

StringId RankWriter::text(nvtx::Name name) {
  const auto [known, added] = texts_.try_emplace(name);
  if (added) known->second = writer_.intern(name->text);
  return known->second;
}

void RankWriter::write() {
  write_process();
  write_device();
  write_memory();
  write_clock();
  write_graph();
  write_ranges();
  write_files();
  write_calls();
  write_ops();
  write_collectives();
}

void RankWriter::write_process() {
  tables::Process::Row row;
  row.global_pid = global_pid_;
  row.command_line = writer_.keep(run_.command);
  row.end = recording_.end;
  row.exit_code = 0;
  row.injected = 1;
  row.pid = pid_;
  if (run_.ranks > 1) row.rank = recording_.rank;
  writer_.add<tables::Process>(row);
  writer_.add<tables::Processes>({global_pid_, pid_, "headway-train"});
  for (std::int32_t worker = -1; worker < recording_.workers; ++worker) {
    const std::string name = worker < 0 ? "training" : fmt::format("loader {}", worker);
    const std::int64_t tid = worker + 2;
    writer_.add<tables::Thread>({thread(worker), tid, writer_.keep(name)});
    writer_.add<tables::ThreadNames>({writer_.intern(name), std::nullopt, thread(worker)});
  }
}

void RankWriter::write_device() {
  const GpuModel& model = *run_.gpu.model;
  tables::TargetInfoGpu::Row gpu;
  gpu.id = gpu_;
  gpu.gpu_name = writer_.keep(device_name(run_.gpu));
  gpu.memory_bandwidth = model.memory_bytes_per_second;
  gpu.sm_count = model.multiprocessors;
  if (run_.clock < 1) gpu.clock_rate = std::llround(boost_clock_hz(model.id));
  gpu.total_memory = run_.gpu.costs->memory_bytes;
  writer_.add<tables::TargetInfoGpu>(gpu);
  tables::CudaDevice::Row device;
  device.gpu_id = gpu_;
  device.cuda_id = gpu_;
  device.pid = pid_;
  device.multiprocessors = model.multiprocessors;
  writer_.add<tables::CudaDevice>(device);
  for (std::size_t i = 0; i < recording_.streams.size(); ++i) {
    tables::Stream::Row row;
    row.global_pid = global_pid_;
    row.device_id = gpu_;
    row.stream_id = stream(StreamId::from(i));
    row.stream_name = writer_.keep(recording_.streams[i]);
    row.device_type = 1;
    writer_.add<tables::Stream>(row);
  }
}

/// Samples as the recorder takes them: the memory of the rank and of the driver's context.
void RankWriter::write_memory() {
  constexpr std::int64_t kContextBytes = 500'000'000;
  tables::CounterSeries::Row row;
  row.id = gpu_ + 1;
  row.series = "gpu.memory_used";
  row.unit = "bytes";
  row.device_id = gpu_;
  row.description = "Device memory in use by all processes.";
  writer_.add<tables::CounterSeries>(row);
  for (const std::int64_t time : {std::int64_t{0}, recording_.end})
    writer_.add<tables::Counter>(
        {row.id, time, static_cast<double>(recording_.memory_bytes + kContextBytes)});
}

/// Samples as the recorder takes them, where the clock is limited: the clock, and power as the
/// reason.
void RankWriter::write_clock() {
  if (run_.clock >= 1) return;
  constexpr double kPowerLimit = 0x4;  // NVML's clocks event reasons
  constexpr std::int64_t kEvery = 100'000'000;
  auto add = [&](int number, std::string_view name, std::string_view unit, double value) {
    tables::CounterSeries::Row row;
    row.id = run_.ranks * number + gpu_ + 1;
    row.series = name;
    row.unit = unit;
    row.device_id = gpu_;
    row.description = "Simulated.";
    writer_.add<tables::CounterSeries>(row);
    for (std::int64_t time = 0; time < recording_.end; time += kEvery)
      writer_.add<tables::Counter>({row.id, time, value});
    writer_.add<tables::Counter>({row.id, recording_.end, value});
  };
  add(1, "gpu.sm_clock", "Hz", run_.clock * boost_clock_hz(run_.gpu.model->id));
  add(2, "gpu.throttle_reasons", "", kPowerLimit);
}

void RankWriter::write_graph() {
  for (const conventions::GraphOpPayload& op : recording_.graph) {
    tables::GraphOp::Row row;
    row.global_pid = global_pid_;
    row.op = op.op;
    row.forward_op = present(op.forward_op);
    row.phase = static_cast<std::int32_t>(op.phase);
    row.op_name = writer_.keep(op.name);
    row.type = writer_.keep(op.type);
    row.shape = writer_.keep(op.shape);
    row.inputs =
        writer_.keep(fmt::format("{}", fmt::join(op.inputs, op.inputs + op.input_count, " ")));
    row.flops = op.flops;
    row.bytes = op.bytes;
    row.output_bytes = op.output_bytes;
    writer_.add<tables::GraphOp>(row);
  }
}

void RankWriter::write_ranges() {
  const bool first = recording_.rank == 0 || gpu_ == 0;
  if (first) {
    for (const auto& [id, name] : {std::pair{kDomainHeadway, "headway"}, {kDomainNccl, "NCCL"}}) {
      tables::NvtxEvents::Row row;
      row.event_type = kEventDomain;
      row.text = name;
      row.domain_id = id;
      writer_.add<tables::NvtxEvents>(row);
    }
  }
  for (const RangeRecord& range : recording_.ranges) {
    tables::NvtxEvents::Row row;
    row.start = range.start;
    row.end = range.end < 0 ? recording_.end : range.end;
    row.event_type = kEventPushPop;
    row.text_id = text(range.name);
    row.global_tid = thread(range.worker);
    row.domain_id = range.nccl ? kDomainNccl : kDomainHeadway;
    const std::int64_t id = writer_.add<tables::NvtxEvents>(row);
    range_rows_.push_back(id);
    if (range.nccl) continue;
    tables::RangeInfo::Row info;
    info.range_row = id;
    info.kind = range.payload.kind;
    info.phase = static_cast<std::int32_t>(range.payload.phase);
    info.op = present(range.payload.op);
    info.batch = present(range.payload.batch);
    info.step = present(range.payload.step);
    info.bytes = range.payload.bytes;
    info.flops = range.payload.flops;
    writer_.add<tables::RangeInfo>(info);
  }
}

void RankWriter::write_files() {
  for (const FileRecord& file : recording_.files) {
    tables::Io::Row row;
    row.start = file.start;
    row.end = file.end;
    row.global_tid = thread(file.worker);
    row.op = file.read ? kIoRead : kIoOpen;
    row.name_id = writer_.intern(file.read ? "read" : "open");
    row.bytes = file.bytes;
    row.calls = file.calls;
    writer_.add<tables::Io>(row);
  }
}

void RankWriter::write_calls() {
  StringId names[16] = {};
  for (const Call& call : recording_.calls) {
    StringId& name = names[static_cast<std::size_t>(call.kind)];
    if (!name.valid() || name.value == 0) name = writer_.intern(api_name(call.kind));
    tables::Runtime::Row row;
    row.start = call.start;
    row.end = call.end;
    row.global_tid = thread(-1);
    row.correlation_id = static_cast<std::int64_t>(call.correlation);
    row.name_id = name;
    writer_.add<tables::Runtime>(row);
    if (sync_type(call.kind) != 0) write_synchronization(call);
    if (call.kind != DeviceCallKind::kEventRecord) continue;
    tables::CudaEvent::Row event;
    event.device_id = gpu_;
    event.context_id = kContext;
    event.stream_id = stream(call.stream);
    event.correlation_id = static_cast<std::int64_t>(call.correlation);
    event.global_pid = global_pid_;
    event.event_id = static_cast<std::int64_t>(call.sync_id);
    event.event_sync_id = static_cast<std::int64_t>(call.sync_id);
    writer_.add<tables::CudaEvent>(event);
  }
}

void RankWriter::write_synchronization(const Call& call) {
  tables::Synchronization::Row row;
  row.start = call.start;
  row.end = call.end;
  row.device_id = gpu_;
  row.context_id = kContext;
  row.stream_id = stream(call.stream);
  row.correlation_id = static_cast<std::int64_t>(call.correlation);
  row.global_pid = global_pid_;
  row.sync_type = sync_type(call.kind);
  row.event_id = static_cast<std::int64_t>(call.sync_id);
  if (call.sync_id != 0) row.event_sync_id = static_cast<std::int64_t>(call.sync_id);
  writer_.add<tables::Synchronization>(row);
}

std::int64_t RankWriter::write_kernel(const Op& op) {
  tables::Kernel::Row row;
  row.start = op.start;
  row.end = op.end;
  row.device_id = gpu_;
  row.context_id = kContext;
  row.stream_id = stream(op.stream);
  row.correlation_id = static_cast<std::int64_t>(op.call());
  row.global_pid = global_pid_;
  row.demangled_name = text(op.name);
  row.short_name = row.demangled_name;
  row.grid_x = op.blocks;
  row.block_x = op.block_threads;
  if (op.graph_call != 0) {
    row.graph_id = op.graph;
    row.graph_node_id = (op.graph << 32) + op.node;  // as CUPTI numbers them
  }
  return writer_.add<tables::Kernel>(row);
}

std::int64_t RankWriter::write_copy(const Op& op) {
  tables::Memcpy::Row row;
  row.start = op.start;
  row.end = op.end;
  row.device_id = gpu_;
  row.context_id = kContext;
  row.stream_id = stream(op.stream);
  row.correlation_id = static_cast<std::int64_t>(op.correlation);
  row.global_pid = global_pid_;
  row.bytes = op.bytes;
  row.copy_kind = copy_kind(op.kind);
  row.src_kind = memory_kind(op.from);
  row.dst_kind = memory_kind(op.to);
  return writer_.add<tables::Memcpy>(row);
}

void RankWriter::write_ops() {
  collective_rows_.assign(recording_.collectives.size(), 0);
  std::vector<std::uint32_t> order(recording_.ops.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return recording_.ops[i].start; });
  for (std::uint32_t i : order) {
    const Op& op = recording_.ops[i];
    const bool kernel = op.kind == DeviceOpKind::kKernel || op.kind == DeviceOpKind::kCommunication;
    const std::int64_t id = kernel ? write_kernel(op) : write_copy(op);
    if (op.collective >= 0) collective_rows_[static_cast<std::size_t>(op.collective)] = id;
    tables::DeviceOpDetail::Row detail;
    detail.op_table = kernel ? kKernelTable : kCopyTable;
    detail.op_row = id;
    if (!kernel) detail.name_id = text(op.name);
    detail.kind = static_cast<std::int64_t>(op.kind);
    detail.phase = static_cast<std::int64_t>(op.phase);
    detail.op = present(op.op);
    detail.batch = present(op.batch);
    detail.bytes = op.bytes;
    detail.flops = op.flops;
    detail.source_memory = static_cast<std::int64_t>(op.from);
    detail.destination_memory = static_cast<std::int64_t>(op.to);
    detail.math_unit = static_cast<std::int64_t>(op.unit);
    detail.blocks = op.blocks;
    detail.block_threads = op.block_threads;
    writer_.add<tables::DeviceOpDetail>(detail);
  }
}

void RankWriter::write_collectives() {
  for (std::size_t i = 0; i < recording_.collectives.size(); ++i) {
    const CollectiveRecord& collective = recording_.collectives[i];
    tables::Collective::Row row;
    row.op_table = kKernelTable;
    row.op_row = collective_rows_[i];
    row.range_row = range_rows_[collective.range];
    row.kind = writer_.intern(collective.kind);
    row.communicator = writer_.intern(collective.communicator);
    row.dtype = writer_.intern(collective.dtype);
    row.bytes = collective.bytes;
    row.sequence = collective.sequence;
    row.ranks = collective.ranks;
    if (collective.peer >= 0) row.peer = collective.peer;
    writer_.add<tables::Collective>(row);
  }
}

}  // namespace headway::trainer::sim
