// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/sim/sim_device.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "common/error.h"
#include "reference_trainer/data/random.h"
#include "reference_trainer/devices/sim/sim_graph.h"

namespace headway::trainer::sim {
namespace {

constexpr std::uint64_t kDepth = 1024;  ///< launches that may be outstanding on a stream
/// Up to this size a pageable source is staged without waiting for the stream, as CUDA does.
constexpr std::int64_t kStagedAtOnceBytes = 64 * 1024;

DeviceOpKind copy_kind(MemoryView to, MemoryView from) {
  const bool to_device = to.kind == MemoryKind::kDevice;
  const bool from_device = from.kind == MemoryKind::kDevice;
  if (to_device)
    return from_device ? DeviceOpKind::kCopyDeviceToDevice : DeviceOpKind::kCopyHostToDevice;
  return from_device ? DeviceOpKind::kCopyDeviceToHost : DeviceOpKind::kCopyHostToHost;
}

const char* name_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kReduceScatter:
      return "ReduceScatter";
    case CollectiveKind::kAllGather:
      return "AllGather";
    case CollectiveKind::kAllToAll:
      return "AlltoAll";
    case CollectiveKind::kParameterServer:
      return "Reduce";
    case CollectiveKind::kSend:
      return "Send";
    case CollectiveKind::kReceive:
      return "Recv";
    default:
      return "AllReduce";
  }
}

/// The name of NCCL's kernel. Only kernels that sum have an operation and a type in it.
std::string kernel_name_of(CollectiveKind kind, const std::string& dtype) {
  if (is_message(kind) || kind == CollectiveKind::kAllToAll) return "ncclDevKernel_SendRecv";
  if (kind == CollectiveKind::kAllGather) return "ncclDevKernel_AllGather_RING_LL";
  return fmt::format("ncclDevKernel_{}_Sum_{}_RING_LL", name_of(kind), dtype);
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

SimDevice::SimDevice(const SimOptions& options, SimWorld& world)
    : options_(options),
      drawn_(options.drawn ? *options.drawn : table_world(options.gpu)),
      costs_(options.gpu, drawn_, options.memory_bytes_per_s, options.link_bytes_per_s,
             options.clock),
      world_(world),
      timeline_({options.rank, options.record_events, options.record_edges}, drawn_, world,
                recording_) {
  info_ = {0, DeviceType::kSimulated, options.gpu.model->multiprocessors,
           fmt::format("simulated {}", options.gpu.model->id)};
  recording_.rank = options.rank;
}

SimDevice::~SimDevice() = default;

StreamId SimDevice::create_stream(const std::string& name) {
  timeline_.add_stream();
  places_.emplace_back();
  recording_.streams.push_back(name);
  return StreamId::from(timeline_.stream_count() - 1);
}

double SimDevice::jitter(std::uint64_t what, std::int64_t batch) const {
  if (options_.jitter <= 0) return 1;
  Random random(options_.seed * 0x10001 + static_cast<std::uint64_t>(options_.rank), what,
                static_cast<std::uint64_t>(batch));
  return 1 + options_.jitter * (2 * random.uniform() - 1);
}

/// In a drawn world, each rank has its own noise.
double SimDevice::noise(double width, std::uint64_t what, std::int64_t which) const {
  return drawn_.factor(width, what * 0x10001 + static_cast<std::uint64_t>(options_.rank),
                       static_cast<std::uint64_t>(which));
}

void SimDevice::spend(std::chrono::nanoseconds duration) {
  compute(std::llround(
      static_cast<double>(duration.count()) *
      noise(drawn_.noise.call, 0x5BE4D, static_cast<std::int64_t>(next_correlation_))));
}

void SimDevice::compute(std::int64_t ns) {
  now_ = workers_ ? workers_->train(now_, ns) : now_ + ns;
}

// ---- calls ----

Call& SimDevice::begin_call(DeviceCallKind kind, StreamId on, std::int64_t bytes) {
  call_ = {};
  call_.kind = kind;
  call_.stream = on;
  call_.start = now_;
  call_.bytes = bytes;
  call_.correlation = next_correlation_++;
  return call_;
}

/// Adds the call's own work, after any waiting.
void SimDevice::end_call(std::int64_t cost) {
  compute(
      std::llround(static_cast<double>(cost) *
                   noise(drawn_.noise.call, 0xCA11, static_cast<std::int64_t>(call_.correlation))));
  call_.end = now_;
  if (options_.record_events) recording_.calls.push_back(call_);
}

/// Makes the call wait until that piece of a stream's work has ended.
void SimDevice::block_for(StreamId on, std::uint64_t sequence) {
  const std::int64_t end = timeline_.end_of(on, sequence);  // first, to know its op
  if (const std::uint64_t op = timeline_.op_of(on, sequence); op != 0)
    timeline_.add_edge(EdgeKind::kSync, op, call_.correlation, 0);
  block_until(end);
}

void SimDevice::block_for_all() {
  for (std::size_t i = 0; i < timeline_.stream_count(); ++i) {
    const StreamId each = StreamId::from(i);
    if (const std::uint64_t all = timeline_.submitted(each); all > 0) block_for(each, all);
  }
}

void SimDevice::block_until(std::int64_t time) {
  if (time <= now_) return;
  call_.waited += time - now_;
  now_ = time;
}

Memory SimDevice::allocate(std::int64_t bytes, MemoryKind kind) {
  allocate_call(bytes);
  if (kind == MemoryKind::kDevice) occupy(bytes);
  // Host code reads the memory that it asked for (figures of a step); device memory is never
  // accessed.
  const bool host = kind != MemoryKind::kDevice;
  void* address =
      host ? std::calloc(1, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))) : nullptr;
  if (host && !address) fail_internal("Out of memory: could not allocate {} bytes.", bytes);
  return Memory(this, {address, kind}, bytes);
}

void SimDevice::occupy(std::int64_t bytes) {
  memory_in_use_ += bytes;
  recording_.memory_bytes = std::max(recording_.memory_bytes, memory_in_use_);
}

void SimDevice::allocate_call(std::int64_t bytes) {
  begin_call(DeviceCallKind::kAllocate, {}, bytes);
  end_call(drawn_.allocator.allocate_ns);
}

void SimDevice::free_call(std::int64_t bytes) {
  begin_call(DeviceCallKind::kFree, {}, bytes);
  block_for_all();
  end_call(drawn_.allocator.free_ns);
}

/// The run may be over: what the program frees at its end is not part of the run.
void SimDevice::release(MemoryView memory, std::int64_t bytes) noexcept {
  if (memory.kind == MemoryKind::kDevice) memory_in_use_ -= bytes;
  std::free(memory.address);
}

/// Makes the call wait for room in the queue, if necessary.
void SimDevice::wait_for_room(StreamId on) {
  const std::vector<std::uint64_t>& places = places_[on.value];
  if (places.size() < kDepth) return;
  const std::uint64_t sequence = places[places.size() - kDepth];
  const std::int64_t room = timeline_.end_of(on, sequence);
  const std::uint64_t op = timeline_.op_of(on, sequence);
  if (op != 0) timeline_.add_edge(EdgeKind::kQueue, op, call_.correlation, 0);
  block_until(room);
}

void SimDevice::submit(StreamId on, Work work) {
  wait_for_room(on);
  work.called = call_.start;
  work.gap = drawn_.costs.kernel_gap_ns;
  work.op.stream = on;
  work.op.correlation = call_.correlation;
  timeline_.submit(on, std::move(work));
  places_[on.value].push_back(timeline_.submitted(on));
}

Work SimDevice::work_of(const SimKernel& kernel, const LaunchArguments& arguments) const {
  const Kernel::Tag& tag = kernel.tag();
  // The optimizer's kernels process parameters, independent of the batch.
  const double filled =
      tag.phase == Phase::kUpdate ? 1 : arguments.filled * kernel.load(arguments.batch);
  const bool whole = filled == 1;
  const CostModel::KernelCost cost = whole ? kernel.cost() : kernel.cost(filled);
  Work work;
  work.op.name = kernel.device_name();
  work.op.kind = tag.kind;
  work.op.bytes = whole ? tag.work.bytes : kernel.work(filled).bytes;
  work.op.flops = whole ? tag.work.flops : kernel.work(filled).flops;
  work.op.op = tag.op;
  work.op.batch = arguments.batch;
  work.op.phase = tag.phase;
  work.op.blocks = cost.blocks;
  work.op.block_threads = cost.block_threads;
  work.op.unit = cost.unit;
  work.duration =
      std::llround(static_cast<double>(cost.ns) * jitter(kernel.number(), arguments.batch) *
                   noise(drawn_.noise.kernel, kernel.number(), arguments.batch));
  work.occupancy = cost.occupancy;
  work.matrix = cost.matrix;
  return work;
}

bool SimDevice::launches(const Kernel& kernel, const LaunchArguments& arguments) const {
  const auto* one = dynamic_cast<const SimKernel*>(&kernel);
  return !one || !one->is_beyond(arguments.filled);
}

void SimDevice::launch(StreamId on, const Kernel& kernel, const LaunchArguments& arguments) {
  if (const auto* graph = dynamic_cast<const SimGraphLaunch*>(&kernel))
    return launch_graph(on, *graph, arguments);
  if (!launches(kernel, arguments)) return;
  begin_call(DeviceCallKind::kLaunch, on);
  submit(on, work_of(static_cast<const SimKernel&>(kernel), arguments));
  end_call(costs_.costs().launch_ns);
}

/// One call and one place in the queue, for any number of nodes; each node is a separate op, as
/// CUPTI records graphs.
void SimDevice::launch_graph(StreamId on, const SimGraphLaunch& graph,
                             const LaunchArguments& arguments) {
  begin_call(DeviceCallKind::kGraphLaunch, on);
  wait_for_room(on);
  const auto stream_gap = static_cast<double>(drawn_.costs.kernel_gap_ns);
  std::int64_t node = 0;
  for (const SimKernel* kernel : graph.nodes()) {
    if (kernel->is_beyond(arguments.filled)) continue;
    Work work = work_of(*kernel, arguments);
    work.called = call_.start;
    work.gap = std::llround(stream_gap * (node == 0 ? 1 : drawn_.graphs.gap_share));
    work.op.stream = on;
    work.op.correlation = node == 0 ? call_.correlation : next_correlation_++;
    work.op.graph_call = call_.correlation;
    work.op.graph = graph.number();
    work.op.node = ++node;
    timeline_.submit(on, std::move(work));
  }
  places_[on.value].push_back(timeline_.submitted(on));
  end_call(std::llround(drawn_.graphs.launch_ns +
                        drawn_.graphs.launch_node_ns * static_cast<double>(node)));
}

std::unique_ptr<Kernel> SimDevice::join(StreamId, Kernel::Tag tag,
                                        const std::vector<const Kernel*>& kernels,
                                        const LaunchArguments&) {
  std::vector<const SimKernel*> nodes;
  for (const Kernel* kernel : kernels) nodes.push_back(static_cast<const SimKernel*>(kernel));
  begin_call(DeviceCallKind::kOther, {});
  end_call(std::llround(drawn_.graphs.instantiate_node_ns * static_cast<double>(nodes.size())));
  return std::make_unique<SimGraphLaunch>(std::move(tag), std::move(nodes), ++graphs_);
}

void SimDevice::submit_copy(StreamId on, MemoryView to, MemoryView from, std::int64_t bytes,
                            std::int64_t batch) {
  static const nvtx::Name kNames[] = {nvtx::intern("copy host to device"),
                                      nvtx::intern("copy device to host"),
                                      nvtx::intern("copy on device")};
  Work work;
  work.op.kind = copy_kind(to, from);
  work.engine = work.op.kind == DeviceOpKind::kCopyHostToDevice   ? 0
                : work.op.kind == DeviceOpKind::kCopyDeviceToHost ? 1
                                                                  : 2;
  work.op.name = kNames[work.engine];
  work.op.bytes = bytes;
  work.op.batch = batch;
  work.op.from = from.kind;
  work.op.to = to.kind;
  const MemoryKind side = work.engine == 0   ? from.kind
                          : work.engine == 1 ? to.kind
                                             : MemoryKind::kDevice;
  work.duration = static_cast<std::int64_t>(std::llround(
      static_cast<double>(costs_.copy_ns(bytes, side)) *
      jitter(0xC0B1 + static_cast<std::uint64_t>(work.engine), batch) *
      noise(drawn_.noise.copy, 0xC0B1 + static_cast<std::uint64_t>(work.engine), batch)));
  submit(on, std::move(work));
}

void SimDevice::copy(StreamId on, MemoryView to, MemoryView from, std::int64_t bytes,
                     std::int64_t batch) {
  begin_call(DeviceCallKind::kCopy, on, bytes);
  submit_copy(on, to, from, bytes, batch);
  const std::uint64_t sequence = timeline_.submitted(on);
  const bool staged = from.kind == MemoryKind::kPageable && bytes > kStagedAtOnceBytes;
  if (staged || to.kind == MemoryKind::kPageable) block_for(on, sequence);
  end_call(costs_.costs().copy_call_ns);
}

void SimDevice::copy_blocking(StreamId on, MemoryView to, MemoryView from, std::int64_t bytes,
                              std::int64_t batch) {
  begin_call(DeviceCallKind::kCopyBlocking, on, bytes);
  submit_copy(on, to, from, bytes, batch);
  const std::uint64_t sequence = timeline_.submitted(on);
  block_for(on, sequence);
  end_call(costs_.costs().sync_wake_ns);
}

Event SimDevice::record(StreamId on) {
  begin_call(DeviceCallKind::kEventRecord, on);
  call_.sync_id = next_sync_++;
  const Event event{on, timeline_.submitted(on), call_.sync_id};
  end_call(costs_.costs().small_call_ns);
  return event;
}

void SimDevice::wait(StreamId on, const Event& event) {
  begin_call(DeviceCallKind::kStreamWaitEvent, on);
  call_.sync_id = event.sync_id;
  if (event.sync_id != 0 && event.stream != on && event.sequence > 0) {
    Work work;
    work.waits = true;
    work.event = event;
    submit(on, std::move(work));
  }
  end_call(costs_.costs().small_call_ns);
}

bool SimDevice::done(const Event& event) {
  if (event.sync_id == 0 || event.sequence == 0) return true;
  return timeline_.ended_by(event.stream, event.sequence, now_);
}

std::optional<std::chrono::nanoseconds> SimDevice::time_of(const Event& event) {
  if (event.sync_id == 0 || event.sequence == 0) return std::nullopt;
  return std::chrono::nanoseconds(timeline_.end_of(event.stream, event.sequence));
}

void SimDevice::synchronize(const Event& event) {
  begin_call(DeviceCallKind::kEventSynchronize, event.stream);
  call_.sync_id = event.sync_id;
  if (event.sync_id != 0 && event.sequence > 0) block_for(event.stream, event.sequence);
  end_call(costs_.costs().sync_wake_ns);
}

void SimDevice::synchronize(StreamId on) {
  begin_call(DeviceCallKind::kStreamSynchronize, on);
  if (const std::uint64_t all = timeline_.submitted(on); all > 0) block_for(on, all);
  end_call(costs_.costs().sync_wake_ns);
}

void SimDevice::synchronize() {
  begin_call(DeviceCallKind::kDeviceSynchronize, {});
  block_for_all();
  end_call(costs_.costs().sync_wake_ns);
  recording_.end = now_;
}

void SimDevice::enqueue_collective(StreamId on, const SimCollective& collective) {
  // NCCL's own range around the call, with its payload.
  const std::string function = name_of(collective.kind);
  const std::size_t range = recording_.ranges.size();
  const std::int64_t begin = now_;
  constexpr std::int64_t kPrepareNs = 3000;  // of the library, before its launch
  compute(kPrepareNs);
  begin_call(DeviceCallKind::kLaunch, on);
  Work work;
  work.op.kind = DeviceOpKind::kCommunication;
  work.op.name = nvtx::intern(kernel_name_of(collective.kind, collective.dtype));
  work.op.bytes = collective.bytes;
  work.op.batch = collective.batch;
  work.op.phase = collective.phase;
  work.op.blocks = 24;
  work.op.block_threads = 544;
  work.op.unit = MathUnit::kUnknown;
  work.transfer_bytes =
      collective.transfer_bytes >= 0 ? collective.transfer_bytes : collective.bytes;
  work.group = collective.group;
  work.group_sequence = timeline_.next_collective(on, collective.group);
  work.collective = collective.kind;
  work.scope = collective.scope;
  if (options_.record_events) {
    work.op.collective = static_cast<std::int32_t>(recording_.collectives.size());
    recording_.collectives.push_back({collective.group->name(), lower(function), collective.dtype,
                                      collective.bytes,
                                      static_cast<std::int64_t>(work.group_sequence),
                                      collective.group->size(), range, collective.peer});
  }
  submit(on, std::move(work));
  end_call(costs_.costs().launch_ns);
  if (!options_.record_events) return;
  RangeRecord record;
  record.start = begin;
  record.end = now_;
  record.name = nvtx::intern("nccl" + function);
  record.payload.bytes = collective.bytes;
  record.nccl = true;
  recording_.ranges.push_back(record);
}

std::unique_ptr<CompiledGraph> SimDevice::compile(const Graph& graph,
                                                  const CompileOptions& options) {
  return compile_for_simulation(*this, graph, options);
}

std::unique_ptr<Kernel> SimDevice::make_kernel(Kernel::Tag tag, const kernels::StreamOp&) {
  return std::make_unique<SimKernel>(std::move(tag), costs_);
}

// ---- ranges and descriptions from the host program ----

void SimDevice::push(nvtx::Name name, const conventions::RangePayload& payload) {
  if (drawn_.pause.between_steps) pause(payload);
  if (options_.record_events) {
    open_ranges_.push_back(recording_.ranges.size());
    RangeRecord record;
    record.start = now_;
    record.name = name;
    record.payload = payload;
    recording_.ranges.push_back(record);
  }
  if (!drawn_.pause.between_steps) pause(payload);
}

/// A pause of the program, which the program does not report.
void SimDevice::pause(const conventions::RangePayload& payload) {
  const auto& is = drawn_.pause;
  if (is.every_steps == 0 ||
      payload.kind != static_cast<std::uint32_t>(conventions::RangeKind::kStep))
    return;
  if (payload.step % is.every_steps != is.every_steps - 1) return;
  now_ += std::llround(is.ns * noise(drawn_.noise.call, 0x6C, payload.step));
}

void SimDevice::pop() {
  if (!options_.record_events) return;
  recording_.ranges[open_ranges_.back()].end = now_;
  open_ranges_.pop_back();
}

void SimDevice::describe(const conventions::GraphOpPayload& op) {
  if (options_.record_events) recording_.graph.push_back(op);
}

}  // namespace headway::trainer::sim
