// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/host/host_device.h"

#include <cstdlib>
#include <cstring>

#include "common/error.h"
#include "kernels/parallel.h"
#include "reference_trainer/devices/host/compile.h"
#include "reference_trainer/devices/host/processor.h"
#include "reference_trainer/devices/host/reserved_memory.h"

namespace headway::trainer {
namespace {

using conventions::DeviceCallKind;
using conventions::DeviceOpKind;

constexpr std::int64_t kAlignment = 64;
/// Up to this size CUDA stages a pageable source without waiting for the stream.
constexpr std::int64_t kStagedAtOnceBytes = 64 * 1024;

bool on_device(MemoryKind kind) {
  return kind == MemoryKind::kDevice;
}

DeviceOpKind copy_kind(MemoryView to, MemoryView from) {
  if (on_device(to.kind))
    return on_device(from.kind) ? DeviceOpKind::kCopyDeviceToDevice
                                : DeviceOpKind::kCopyHostToDevice;
  return on_device(from.kind) ? DeviceOpKind::kCopyDeviceToHost : DeviceOpKind::kCopyHostToHost;
}

[[noreturn]] void fail_out_of_memory(std::int64_t bytes) {
  fail_internal("Out of memory: the host device could not allocate {} bytes. Use a smaller batch.",
                bytes);
}

}  // namespace

struct HostDevice::CallNames {
  nvtx::Name launch = nvtx::intern("launch");
  nvtx::Name graph_launch = nvtx::intern("graph launch");
  nvtx::Name copy = nvtx::intern("copy");
  nvtx::Name copy_blocking = nvtx::intern("copy, blocking");
  nvtx::Name record = nvtx::intern("event record");
  nvtx::Name wait = nvtx::intern("stream wait event");
  nvtx::Name synchronize_event = nvtx::intern("event synchronize");
  nvtx::Name synchronize_stream = nvtx::intern("stream synchronize");
  nvtx::Name synchronize_device = nvtx::intern("device synchronize");
  nvtx::Name allocate = nvtx::intern("allocate");
  nvtx::Name release = nvtx::intern("free");
  nvtx::Name host_to_device = nvtx::intern("copy host to device");
  nvtx::Name device_to_host = nvtx::intern("copy device to host");
  nvtx::Name device_to_device = nvtx::intern("copy on device");
  nvtx::Name host_to_host = nvtx::intern("copy on host");
};

HostDevice::HostDevice(const HostDeviceOptions& options)
    : options_(options), names_(std::make_unique<CallNames>()) {
  info_ = {0, DeviceType::kHost, options.threads, describe_processor()};
  info_.most_int8_weight = most_int8_weight();
  conventions::DevicePayload payload;
  payload.type = static_cast<std::uint32_t>(info_.type);
  payload.cores = static_cast<std::uint32_t>(info_.cores);
  nvtx::copy_text(payload.name, info_.name);
  nvtx::describe(payload);
}

HostDevice::~HostDevice() {
  finish();  // a stream may wait for another one, so all must finish before any is destroyed
}

void HostDevice::finish() noexcept {
  for (const auto& each : streams_) each->wait_for(each->submitted());
}

StreamId HostDevice::create_stream(const std::string& name) {
  const StreamId id = StreamId::from(streams_.size());
  conventions::StreamPayload payload;
  payload.stream = id.value;
  nvtx::copy_text(payload.name, name);
  nvtx::describe(payload);
  const int threads = options_.threads;
  streams_.push_back(std::make_unique<HostStream>(
      name, error_, options_.spin, [threads] { kernels::set_max_threads(threads); }));
  return id;
}

conventions::DeviceCallPayload HostDevice::call(DeviceCallKind kind, StreamId on) const {
  conventions::DeviceCallPayload payload;
  payload.kind = static_cast<std::uint32_t>(kind);
  payload.device = info_.id;
  payload.stream = on.valid() ? on.value : 0;
  return payload;
}

Memory HostDevice::allocate(std::int64_t bytes, MemoryKind kind) {
  auto payload = call(DeviceCallKind::kAllocate, {});
  payload.bytes = bytes;
  nvtx::Range range(names_->allocate, payload);
  const std::int64_t rounded =
      (std::max<std::int64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  void* address = std::aligned_alloc(kAlignment, static_cast<std::size_t>(rounded));
  if (!address) fail_out_of_memory(bytes);
  std::memset(address, 0, static_cast<std::size_t>(rounded));  // also touches every page
  return Memory(this, {address, kind}, bytes);
}

void HostDevice::release(MemoryView memory, std::int64_t bytes) noexcept {
  auto payload = call(DeviceCallKind::kFree, {});
  payload.bytes = bytes;
  nvtx::Range range(names_->release, payload);
  finish();  // as cudaFree does: unfinished work may still use the memory
  std::free(memory.address);
}

void HostDevice::get_pages(void* piece, std::int64_t bytes) {
  auto payload = call(DeviceCallKind::kAllocate, {});
  payload.bytes = bytes;
  nvtx::Range range(names_->allocate, payload);
  if (!ReservedMemory::get(piece, bytes)) fail_out_of_memory(bytes);
}

void HostDevice::give_back_pages(void* piece, std::int64_t bytes) noexcept {
  auto payload = call(DeviceCallKind::kFree, {});
  payload.bytes = bytes;
  nvtx::Range range(names_->release, payload);
  finish();
  ReservedMemory::give_back(piece, bytes);
}

RecordedKernel HostDevice::recorded(StreamId on, const Kernel& kernel) const {
  const Kernel::Tag& tag = kernel.tag();
  RecordedKernel result{static_cast<const HostKernel*>(&kernel), {}, {}};
  if (options_.memory_bytes_per_second > 0)
    result.at_least = std::chrono::nanoseconds(static_cast<std::int64_t>(
        static_cast<double>(tag.work.bytes) / options_.memory_bytes_per_second * 1e9));
  result.payload.kind = static_cast<std::uint32_t>(tag.kind);
  result.payload.device = info_.id;
  result.payload.stream = on.value;
  result.payload.phase = static_cast<std::uint32_t>(tag.phase);
  result.payload.op = tag.op;
  result.payload.bytes = tag.work.bytes;
  result.payload.flops = tag.work.flops;
  result.payload.math_unit = static_cast<std::uint32_t>(tag.math_unit);
  return result;
}

void HostDevice::launch(StreamId on, const Kernel& kernel, const LaunchArguments& arguments) {
  error_.check();
  if (const auto* several = dynamic_cast<const RecordedKernels*>(&kernel))
    return launch_recorded(on, *several, arguments);
  const RecordedKernel one = recorded(on, kernel);
  HostTask task{KernelTask{one.kernel, arguments, one.at_least}, kernel.tag().name, one.payload};
  task.payload.correlation = next_correlation_++;
  task.payload.batch = arguments.batch;
  auto payload = call(DeviceCallKind::kLaunch, on);
  payload.correlation = task.payload.correlation;
  nvtx::Range range(names_->launch, payload);
  stream(on).submit(std::move(task));
}

void HostDevice::launch_recorded(StreamId on, const RecordedKernels& recorded,
                                 const LaunchArguments& arguments) {
  auto payload = call(DeviceCallKind::kGraphLaunch, on);
  payload.correlation = next_correlation_++;
  nvtx::Range range(names_->graph_launch, payload);
  stream(on).submit({RecordedTask{&recorded, arguments, payload.correlation}, nullptr, {}});
}

std::unique_ptr<Kernel> HostDevice::join(StreamId on, Kernel::Tag tag,
                                         const std::vector<const Kernel*>& kernels,
                                         const LaunchArguments&) {
  std::vector<RecordedKernel> all;
  for (const Kernel* kernel : kernels) all.push_back(recorded(on, *kernel));
  return std::make_unique<RecordedKernels>(std::move(tag), std::move(all));
}

std::uint64_t HostDevice::enqueue_copy(StreamId on, MemoryView to, MemoryView from,
                                       std::int64_t bytes, std::int64_t batch,
                                       std::uint64_t correlation) {
  const DeviceOpKind kind = copy_kind(to, from);
  const bool crosses =
      kind == DeviceOpKind::kCopyHostToDevice || kind == DeviceOpKind::kCopyDeviceToHost;
  CopyTask copy{to.address, from.address, bytes, crosses ? options_.link_bytes_per_second : 0, {}};
  if (from.kind == MemoryKind::kPageable) {
    if (bytes > kStagedAtOnceBytes) stream(on).wait_for(stream(on).submitted());
    const auto* first = static_cast<const std::byte*>(from.address);
    copy.staging = std::make_shared<std::vector<std::byte>>(first, first + bytes);
    copy.from = copy.staging->data();
  }
  HostTask task;
  task.work = std::move(copy);
  task.name = kind == DeviceOpKind::kCopyHostToDevice   ? names_->host_to_device
              : kind == DeviceOpKind::kCopyDeviceToHost ? names_->device_to_host
              : kind == DeviceOpKind::kCopyHostToHost   ? names_->host_to_host
                                                        : names_->device_to_device;
  task.payload.kind = static_cast<std::uint32_t>(kind);
  task.payload.device = info_.id;
  task.payload.stream = on.value;
  task.payload.correlation = correlation;
  task.payload.batch = batch;
  task.payload.bytes = bytes;
  task.payload.source_memory = static_cast<std::uint32_t>(from.kind);
  task.payload.destination_memory = static_cast<std::uint32_t>(to.kind);
  return stream(on).submit(std::move(task));
}

void HostDevice::copy(StreamId on, MemoryView to, MemoryView from, std::int64_t bytes,
                      std::int64_t batch) {
  error_.check();
  auto payload = call(DeviceCallKind::kCopy, on);
  payload.correlation = next_correlation_++;
  payload.bytes = bytes;
  nvtx::Range range(names_->copy, payload);
  const std::uint64_t sequence = enqueue_copy(on, to, from, bytes, batch, payload.correlation);
  if (to.kind == MemoryKind::kPageable) stream(on).wait_for(sequence);
}

void HostDevice::copy_blocking(StreamId on, MemoryView to, MemoryView from, std::int64_t bytes,
                               std::int64_t batch) {
  error_.check();
  auto payload = call(DeviceCallKind::kCopyBlocking, on);
  payload.correlation = next_correlation_++;
  payload.bytes = bytes;
  nvtx::Range range(names_->copy_blocking, payload);
  stream(on).wait_for(enqueue_copy(on, to, from, bytes, batch, payload.correlation));
  error_.check();
}

Event HostDevice::record(StreamId on) {
  error_.check();
  auto payload = call(DeviceCallKind::kEventRecord, on);
  payload.sync_id = next_sync_++;
  nvtx::Range range(names_->record, payload);
  return {on, stream(on).submitted(), payload.sync_id};
}

void HostDevice::wait(StreamId on, const Event& event) {
  error_.check();
  auto payload = call(DeviceCallKind::kStreamWaitEvent, on);
  payload.sync_id = event.sync_id;
  nvtx::Range range(names_->wait, payload);
  if (event.sync_id == 0 || event.stream == on) return;  // stream order is enough
  HostTask task;
  task.work = WaitTask{&stream(event.stream), event.sequence};
  stream(on).submit(std::move(task));
}

bool HostDevice::done(const Event& event) {
  error_.check();
  return event.sync_id == 0 || stream(event.stream).completed(event.sequence);
}

void HostDevice::synchronize(const Event& event) {
  error_.check();
  auto payload = call(DeviceCallKind::kEventSynchronize, event.stream);
  payload.sync_id = event.sync_id;
  nvtx::Range range(names_->synchronize_event, payload);
  if (event.sync_id != 0) stream(event.stream).wait_for(event.sequence);
  error_.check();
}

void HostDevice::synchronize(StreamId on) {
  error_.check();
  nvtx::Range range(names_->synchronize_stream, call(DeviceCallKind::kStreamSynchronize, on));
  stream(on).wait_for(stream(on).submitted());
  error_.check();
}

void HostDevice::synchronize() {
  error_.check();
  nvtx::Range range(names_->synchronize_device, call(DeviceCallKind::kDeviceSynchronize, {}));
  finish();
  error_.check();
}

std::unique_ptr<Kernel> HostDevice::make_kernel(Kernel::Tag tag, const kernels::StreamOp& op) {
  return make_kernel(std::move(tag), [op](const LaunchArguments&) { kernels::run(op); });
}

std::unique_ptr<Kernel> HostDevice::make_kernel(Kernel::Tag tag, HostKernel::Body body) {
  return std::make_unique<HostKernel>(std::move(tag), std::move(body));
}

std::unique_ptr<Kernel> HostDevice::make_kernel(const std::string& name, HostKernel::Body body) {
  Kernel::Tag tag;
  tag.name = nvtx::intern(name);
  tag.text = name;
  return make_kernel(std::move(tag), std::move(body));
}

std::unique_ptr<CompiledGraph> HostDevice::compile(const Graph& graph,
                                                   const CompileOptions& options) {
  // oneDNN plans for the number of threads of the thread that makes the primitive.
  kernels::set_max_threads(options_.threads);
  return compile_for_host(*this, graph, options);
}

}  // namespace headway::trainer
