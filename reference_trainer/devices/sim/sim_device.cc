// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/sim/sim_device.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <map>

#include "common/error.h"
#include "reference_trainer/data/random.h"
#include "reference_trainer/devices/sim/sim_graph.h"

namespace headway::trainer::sim {
namespace {

constexpr std::uint64_t kDepth = 1024;  ///< launches outstanding on a stream
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
    case CollectiveKind::kParameterServer:
      return "Reduce";
    default:
      return "AllReduce";
  }
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

/// A piece of work in a stream's queue.
struct SimDevice::Entry {
  Op op;
  std::int64_t called = 0;    ///< start of its call
  std::int64_t duration = 0;  ///< not of collectives
  int engine = -1;
  bool waits = false;  ///< for `event`; does nothing else
  Event event;
  SimGroup* group = nullptr;
  std::uint64_t group_sequence = 0;
  CollectiveKind collective = CollectiveKind::kAllReduce;
  Scope scope = Scope::kWorld;
};

struct SimDevice::Stream {
  std::deque<Entry> queue;         ///< submitted, times not worked out yet
  std::vector<std::int64_t> ends;  ///< by sequence - 1, of what was worked out
  std::vector<std::uint64_t>
      last_ops;                   ///< likewise: correlation of the last op up to there; 0 none
  std::int64_t waited_until = 0;  ///< events awaited since the last op
  std::uint64_t waited_for = 0;
  std::vector<std::uint64_t> awaited;              ///< all ops awaited since the last op
  std::map<SimGroup*, std::uint64_t> collectives;  ///< enqueued so far
  std::uint64_t submitted() const { return ends.size() + queue.size(); }
};

SimDevice::SimDevice(const SimOptions& options, SimWorld& world)
    : options_(options),
      costs_(options.gpu, options.memory_bytes_per_s, options.link_bytes_per_s),
      world_(world) {
  info_ = {0, DeviceType::kSimulated, options.gpu.model->multiprocessors,
           fmt::format("simulated {}", options.gpu.model->id)};
  recording_.rank = options.rank;
}

SimDevice::~SimDevice() = default;

StreamId SimDevice::create_stream(const std::string& name) {
  streams_.push_back(std::make_unique<Stream>());
  recording_.streams.push_back(name);
  return StreamId::from(streams_.size() - 1);
}

double SimDevice::jitter(std::uint64_t what, std::int64_t batch) const {
  if (options_.jitter <= 0) return 1;
  Random random(options_.seed * 0x10001 + static_cast<std::uint64_t>(options_.rank), what,
                static_cast<std::uint64_t>(batch));
  return 1 + options_.jitter * (2 * random.uniform() - 1);
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

/// The call's own work, after what it may have waited for.
void SimDevice::end_call(std::int64_t cost) {
  now_ += cost;
  call_.end = now_;
  if (options_.record_events) recording_.calls.push_back(call_);
}

/// The call waits for that much of a stream's work.
void SimDevice::block_for(StreamId on, std::uint64_t sequence) {
  const std::int64_t end = end_of(on, sequence);  // only then is its op known
  if (const std::uint64_t op = op_of(on, sequence); op != 0)
    add_edge(EdgeKind::kSync, op, call_.correlation, 0);
  block_until(end);
}

void SimDevice::block_for_all() {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const StreamId each = StreamId::from(i);
    if (const std::uint64_t all = stream(each).submitted(); all > 0) block_for(each, all);
  }
}

void SimDevice::block_until(std::int64_t time) {
  if (time <= now_) return;
  call_.waited += time - now_;
  now_ = time;
}

void SimDevice::add_edge(EdgeKind kind, std::uint64_t from, std::uint64_t to, std::int64_t lag,
                         int rank) {
  if (options_.record_edges) recording_.edges.push_back({kind, from, to, lag, rank});
}

Memory SimDevice::allocate(std::int64_t bytes, MemoryKind kind) {
  allocate_call(bytes);
  // Host code reads what it asked for (figures of a step); device memory is never touched.
  const bool host = kind != MemoryKind::kDevice;
  void* address =
      host ? std::calloc(1, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))) : nullptr;
  if (host && !address) fail_internal("Out of memory: could not allocate {} bytes.", bytes);
  return Memory(this, {address, kind}, bytes);
}

void SimDevice::allocate_call(std::int64_t bytes) {
  begin_call(DeviceCallKind::kAllocate, {}, bytes);
  end_call(allocator_costs().allocate_ns);
}

void SimDevice::free_call(std::int64_t bytes) {
  begin_call(DeviceCallKind::kFree, {}, bytes);
  block_for_all();
  end_call(allocator_costs().free_ns);
}

/// The run may be over: what the program gives back at its end is not part of it.
void SimDevice::release(MemoryView memory, std::int64_t) noexcept {
  std::free(memory.address);
}

std::uint64_t SimDevice::submit(StreamId on, Entry entry) {
  Stream& s = stream(on);
  const std::uint64_t sequence = s.submitted() + 1;
  if (sequence > kDepth) {
    const std::int64_t room = end_of(on, sequence - kDepth);
    const std::uint64_t op = op_of(on, sequence - kDepth);
    if (op != 0) add_edge(EdgeKind::kQueue, op, call_.correlation, 0);
    block_until(room);
  }
  entry.called = call_.start;
  entry.op.stream = on;
  entry.op.correlation = call_.correlation;
  s.queue.push_back(std::move(entry));
  return sequence;
}

void SimDevice::launch(StreamId on, const Kernel& kernel, const LaunchArguments& arguments) {
  begin_call(DeviceCallKind::kLaunch, on);
  const Kernel::Tag& tag = kernel.tag();
  const auto& cost = static_cast<const SimKernel&>(kernel).cost();
  Entry entry;
  entry.op.name = static_cast<const SimKernel&>(kernel).device_name();
  entry.op.kind = tag.kind;
  entry.op.bytes = tag.work.bytes;
  entry.op.flops = tag.work.flops;
  entry.op.op = tag.op;
  entry.op.batch = arguments.batch;
  entry.op.phase = tag.phase;
  entry.op.blocks = cost.blocks;
  entry.op.block_threads = cost.block_threads;
  entry.op.unit = cost.unit;
  entry.duration = static_cast<std::int64_t>(
      std::llround(static_cast<double>(cost.ns) *
                   jitter(static_cast<const SimKernel&>(kernel).number(), arguments.batch)));
  submit(on, std::move(entry));
  end_call(costs_.costs().launch_ns);
}

void SimDevice::submit_copy(StreamId on, MemoryView to, MemoryView from, std::int64_t bytes,
                            std::int64_t batch) {
  static const nvtx::Name kNames[] = {nvtx::intern("copy host to device"),
                                      nvtx::intern("copy device to host"),
                                      nvtx::intern("copy on device")};
  Entry entry;
  entry.op.kind = copy_kind(to, from);
  entry.engine = entry.op.kind == DeviceOpKind::kCopyHostToDevice   ? 0
                 : entry.op.kind == DeviceOpKind::kCopyDeviceToHost ? 1
                                                                    : 2;
  entry.op.name = kNames[entry.engine];
  entry.op.bytes = bytes;
  entry.op.batch = batch;
  entry.op.from = from.kind;
  entry.op.to = to.kind;
  const MemoryKind side = entry.engine == 0   ? from.kind
                          : entry.engine == 1 ? to.kind
                                              : MemoryKind::kDevice;
  entry.duration = static_cast<std::int64_t>(
      std::llround(static_cast<double>(costs_.copy_ns(bytes, side)) *
                   jitter(0xC0B1 + static_cast<std::uint64_t>(entry.engine), batch)));
  submit(on, std::move(entry));
}

void SimDevice::copy(StreamId on, MemoryView to, MemoryView from, std::int64_t bytes,
                     std::int64_t batch) {
  begin_call(DeviceCallKind::kCopy, on, bytes);
  submit_copy(on, to, from, bytes, batch);
  const std::uint64_t sequence = stream(on).submitted();
  const bool staged = from.kind == MemoryKind::kPageable && bytes > kStagedAtOnceBytes;
  if (staged || to.kind == MemoryKind::kPageable) block_for(on, sequence);
  end_call(costs_.costs().copy_call_ns);
}

void SimDevice::copy_blocking(StreamId on, MemoryView to, MemoryView from, std::int64_t bytes,
                              std::int64_t batch) {
  begin_call(DeviceCallKind::kCopyBlocking, on, bytes);
  submit_copy(on, to, from, bytes, batch);
  const std::uint64_t sequence = stream(on).submitted();
  block_for(on, sequence);
  end_call(costs_.costs().sync_wake_ns);
}

Event SimDevice::record(StreamId on) {
  begin_call(DeviceCallKind::kEventRecord, on);
  call_.sync_id = next_sync_++;
  const Event event{on, stream(on).submitted(), call_.sync_id};
  end_call(costs_.costs().small_call_ns);
  return event;
}

void SimDevice::wait(StreamId on, const Event& event) {
  begin_call(DeviceCallKind::kStreamWaitEvent, on);
  call_.sync_id = event.sync_id;
  if (event.sync_id != 0 && event.stream != on && event.sequence > 0) {
    Entry entry;
    entry.waits = true;
    entry.event = event;
    submit(on, std::move(entry));
  }
  end_call(costs_.costs().small_call_ns);
}

bool SimDevice::done(const Event& event) {
  if (event.sync_id == 0 || event.sequence == 0) return true;
  return end_of(event.stream, event.sequence) <= now_;
}

void SimDevice::synchronize(const Event& event) {
  begin_call(DeviceCallKind::kEventSynchronize, event.stream);
  call_.sync_id = event.sync_id;
  if (event.sync_id != 0 && event.sequence > 0) block_for(event.stream, event.sequence);
  end_call(costs_.costs().sync_wake_ns);
}

void SimDevice::synchronize(StreamId on) {
  begin_call(DeviceCallKind::kStreamSynchronize, on);
  if (const std::uint64_t all = stream(on).submitted(); all > 0) block_for(on, all);
  end_call(costs_.costs().sync_wake_ns);
}

void SimDevice::synchronize() {
  begin_call(DeviceCallKind::kDeviceSynchronize, {});
  block_for_all();
  end_call(costs_.costs().sync_wake_ns);
  recording_.end = now_;
}

void SimDevice::enqueue_collective(StreamId on, const SimCollective& collective) {
  // NCCL's own range around the call, with what its payload says.
  const std::string function = name_of(collective.kind);
  const std::size_t range = recording_.ranges.size();
  const std::int64_t begin = now_;
  constexpr std::int64_t kPrepareNs = 3000;  // of the library, before its launch
  now_ += kPrepareNs;
  begin_call(DeviceCallKind::kLaunch, on);
  Entry entry;
  entry.op.kind = DeviceOpKind::kCommunication;
  entry.op.name =
      nvtx::intern(fmt::format("ncclDevKernel_{}_Sum_{}_RING_LL", function, collective.dtype));
  entry.op.bytes = collective.bytes;
  entry.op.batch = collective.batch;
  entry.op.phase = collective.phase;
  entry.op.blocks = 24;
  entry.op.block_threads = 544;
  entry.op.unit = MathUnit::kUnknown;
  entry.group = collective.group;
  entry.group_sequence = stream(on).collectives[collective.group]++;
  entry.collective = collective.kind;
  entry.scope = collective.scope;
  if (options_.record_events) {
    entry.op.collective = static_cast<std::int32_t>(recording_.collectives.size());
    recording_.collectives.push_back(
        {collective.group->name(), lower(function), collective.dtype, collective.bytes,
         static_cast<std::int64_t>(entry.group_sequence), collective.group->size(), range});
  }
  submit(on, std::move(entry));
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

// ---- times of enqueued work ----

std::int64_t SimDevice::end_of(StreamId on, std::uint64_t sequence) {
  while (stream(on).ends.size() < sequence) resolve_next(on);
  return stream(on).ends[sequence - 1];
}

std::uint64_t SimDevice::op_of(StreamId on, std::uint64_t sequence) {
  return stream(on).last_ops[sequence - 1];
}

void SimDevice::resolve_next(StreamId on) {
  Entry entry = std::move(stream(on).queue.front());
  stream(on).queue.pop_front();
  const std::int64_t event_end = entry.waits ? end_of(entry.event.stream, entry.event.sequence) : 0;
  Stream& s = stream(on);
  const std::int64_t before = s.ends.empty() ? 0 : s.ends.back();
  const std::uint64_t last = s.last_ops.empty() ? 0 : s.last_ops.back();
  if (entry.waits) {
    const std::uint64_t op = op_of(entry.event.stream, entry.event.sequence);
    if (op != 0) s.awaited.push_back(op);
    if (event_end > s.waited_until) {
      s.waited_until = event_end;
      s.waited_for = op;
    }
    s.ends.push_back(std::max(before, event_end));
    s.last_ops.push_back(last);
    return;
  }
  Op& op = entry.op;
  const std::int64_t gap = costs_.costs().kernel_gap_ns;
  op.start = entry.called + costs_.costs().launch_latency_ns;
  op.binding = Binding::kLaunch;
  add_edge(EdgeKind::kLaunch, op.correlation, op.correlation, costs_.costs().launch_latency_ns);
  auto bind = [&](std::int64_t time, Binding binding, std::uint64_t by) {
    if (time <= op.start) return;
    op.start = time;
    op.binding = binding;
    op.bound_by = by;
  };
  if (last != 0) {
    add_edge(EdgeKind::kStream, last, op.correlation, gap);
    bind(before + gap, Binding::kStream, last);
  }
  for (std::uint64_t awaited : s.awaited) add_edge(EdgeKind::kEvent, awaited, op.correlation, gap);
  s.awaited.clear();
  if (s.waited_for != 0) bind(s.waited_until + gap, Binding::kEvent, s.waited_for);
  s.waited_until = 0;
  s.waited_for = 0;
  if (entry.engine >= 0) {
    Engine& engine = engines_[entry.engine];
    if (engine.last != 0) {
      add_edge(EdgeKind::kEngine, engine.last, op.correlation, 0);
      bind(engine.free_at, Binding::kEngine, engine.last);
    }
    op.end = op.start + entry.duration;
    engine.free_at = op.end;
    engine.last = op.correlation;
  } else if (entry.group) {
    entry.group->arrive(entry.group_sequence, options_.rank, op.start);
    const SimGroup::Arrivals arrivals = entry.group->wait(entry.group_sequence);
    const std::int64_t transfer =
        world_.links().collective_ns(entry.collective, entry.scope, entry.group->size(), op.bytes);
    op.last_arrival = arrivals.last;
    op.end = arrivals.last + transfer;
    add_edge(EdgeKind::kCollective, entry.group_sequence, op.correlation, transfer,
             arrivals.last_rank);
  } else {
    op.end = op.start + entry.duration;
  }
  Stream& now = stream(on);
  now.ends.push_back(op.end);
  now.last_ops.push_back(op.correlation);
  if (options_.record_events) recording_.ops.push_back(op);
}

std::unique_ptr<CompiledGraph> SimDevice::compile(const Graph& graph,
                                                  const CompileOptions& options) {
  return compile_for_simulation(*this, graph, options);
}

std::unique_ptr<Kernel> SimDevice::make_kernel(Kernel::Tag tag, const kernels::StreamOp&) {
  return std::make_unique<SimKernel>(std::move(tag), costs_);
}

// ---- what the host program says ----

void SimDevice::push(nvtx::Name name, const conventions::RangePayload& payload) {
  if (!options_.record_events) return;
  open_ranges_.push_back(recording_.ranges.size());
  RangeRecord record;
  record.start = now_;
  record.name = name;
  record.payload = payload;
  recording_.ranges.push_back(record);
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
