// SPDX-License-Identifier: MIT
// A libcupti.so.13 for machines without a GPU: takes the calls that the real one takes, in the order
// in which it allows them, asks for buffers and fills them with the real structures. What "runs" on
// its device is what the program tells it (fake_cupti.h). FAKE_CUPTI_BUSY=1: another profiler is
// subscribed.
#include "fake_cupti.h"

#include <cupti.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

struct State {
  std::mutex mutex;
  bool subscribed = false;
  CUpti_CallbackFunc callback = nullptr;
  std::set<std::pair<int, std::uint32_t>> watched;  ///< domain and call: the callback is told
  std::set<int> kinds;
  std::set<std::uint32_t> left_out;      ///< runtime calls
  std::set<std::uint32_t> driver_calls;  ///< recorded
  CUpti_BuffersCallbackRequestFunc requested = nullptr;
  CUpti_BuffersCallbackCompleteFunc completed = nullptr;
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
  bool incomplete = false;
  std::size_t dropped = 0;
  bool latency = false;
  std::uint64_t spent_ns = 0;
};
State& state() {
  static State* s = new State;  // never destroyed: used by exit handlers
  return *s;
}

std::uint64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void complete(State& s) {
  if (!s.buffer) return;
  std::uint8_t* buffer = s.buffer;
  s.buffer = nullptr;
  s.incomplete = false;
  const std::uint64_t begin = monotonic_ns();
  s.completed(nullptr, 0, buffer, s.size, s.used);
  s.spent_ns += monotonic_ns() - begin;
}

template <class Record>
void put(const Record& record, int kind) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (!s.kinds.contains(kind)) return;
  if (s.buffer && s.used + sizeof record > s.size) complete(s);
  if (!s.buffer) {
    std::size_t most = 0;
    const std::uint64_t begin = monotonic_ns();
    s.requested(&s.buffer, &s.size, &most);
    s.spent_ns += monotonic_ns() - begin;
    s.used = 0;
    if (!s.buffer) {
      ++s.dropped;
      return;
    }
  }
  std::memcpy(s.buffer + s.used, &record, sizeof record);
  s.used += sizeof record;
}

std::size_t size_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return sizeof(CUpti_ActivityDevice5);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return sizeof(CUpti_ActivityContext3);
    case CUPTI_ACTIVITY_KIND_STREAM:
      return sizeof(CUpti_ActivityStream);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return sizeof(CUpti_ActivityMemory4);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return sizeof(CUpti_ActivityMemoryPool3);
    case CUPTI_ACTIVITY_KIND_ENVIRONMENT:
      return sizeof(CUpti_ActivityEnvironment);
    default:
      return 0;
  }
}

void describe(CUpti_ActivityKind kind) {
  if (kind == CUPTI_ACTIVITY_KIND_DEVICE) {
    CUpti_ActivityDevice5 device{};
    device.kind = kind;
    device.globalMemoryBandwidth = 4'800'000'000;  // kB/s
    device.globalMemorySize = std::uint64_t{141} << 30;
    device.numMultiprocessors = 132;
    device.coreClockRate = 1'980'000;
    device.computeCapabilityMajor = 9;
    device.name = "Pretended GPU";
    device.maxWarpsPerMultiprocessor = 64;
    device.maxSharedMemoryPerMultiprocessor = 233'472;
    device.l2CacheSize = 62'914'560;
    std::memcpy(device.uuid.bytes, "0123456789abcdef", 16);
    put(device, kind);
  } else if (kind == CUPTI_ACTIVITY_KIND_CONTEXT) {
    CUpti_ActivityContext3 context{};
    context.kind = kind;
    context.contextId = 1;
    put(context, kind);
  } else if (kind == CUPTI_ACTIVITY_KIND_STREAM) {
    CUpti_ActivityStream stream{};
    stream.kind = kind;
    stream.contextId = 1;
    stream.streamId = 7;
    stream.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
    put(stream, kind);
  } else if (kind == CUPTI_ACTIVITY_KIND_ENVIRONMENT) {
    CUpti_ActivityEnvironment environment{};
    environment.kind = kind;
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    environment.timestamp = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
                            static_cast<std::uint64_t>(now.tv_nsec);
    environment.environmentKind = CUPTI_ACTIVITY_ENVIRONMENT_SPEED;
    environment.data.speed.smClock = 1410;
    environment.data.speed.memoryClock = 2619;
    environment.data.speed.clocksThrottleReasons = CUPTI_CLOCKS_THROTTLE_REASON_SW_POWER_CAP;
    put(environment, kind);
    environment.environmentKind = CUPTI_ACTIVITY_ENVIRONMENT_POWER;
    environment.data = {};
    environment.data.power.power = 651'500;
    put(environment, kind);
  }
}

}  // namespace

FAKE CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                                void*) {
  if (std::getenv("FAKE_CUPTI_BUSY")) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  state().callback = callback;
  state().subscribed = true;
  *subscriber = nullptr;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  state().subscribed = false;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
              ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
              : "another error";
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  return type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? CUPTI_SUCCESS
                                                      : CUPTI_ERROR_INVALID_PARAMETER;
}
FAKE CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                                CUpti_BuffersCallbackCompleteFunc completed) {
  state().requested = requested;
  state().completed = completed;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  State& s = state();
  if (!s.subscribed || !s.requested) return CUPTI_ERROR_NOT_INITIALIZED;
  {
    std::lock_guard lock(s.mutex);
    s.kinds.insert(kind);
    if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) s.left_out.clear();
  }
  describe(kind);
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  return s.kinds.erase(kind) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_KIND;
}
FAKE CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle,
                                     CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  if (!state().subscribed) return CUPTI_ERROR_NOT_INITIALIZED;
  if (enable) state().watched.insert({domain, cbid});
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityEnableRuntimeApi(std::uint32_t cbid, std::uint8_t enable) {
  if (!enable) state().left_out.insert(cbid);
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityEnableDriverApi(std::uint32_t cbid, std::uint8_t enable) {
  if (enable)
    state().driver_calls.insert(cbid);
  else
    state().driver_calls.erase(cbid);
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                            CUpti_Activity** record) {
  auto* at = reinterpret_cast<std::uint8_t*>(*record);
  at = at ? at + size_of((*record)->kind) : buffer;
  if (at >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto* next = reinterpret_cast<CUpti_Activity*>(at);
  if (size_of(next->kind) == 0) return CUPTI_ERROR_INVALID_KIND;
  *record = next;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  *dropped = state().dropped;
  state().dropped = 0;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED || !s.incomplete) complete(s);
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t cbid,
                                      const char** name) {
  static constexpr struct {
    CUpti_CallbackDomain domain;
    std::uint32_t cbid;
    const char* name;
  } kNames[] = {{CUPTI_CB_DOMAIN_RUNTIME_API, 211, "cudaLaunchKernel_v7000"},
                {CUPTI_CB_DOMAIN_RUNTIME_API, 41, "cudaMemcpyAsync_v3020"},
                {CUPTI_CB_DOMAIN_RUNTIME_API, 131, "cudaStreamSynchronize_v3020"},
                {CUPTI_CB_DOMAIN_DRIVER_API, 307, "cuLaunchKernel"}};
  for (const auto& known : kNames) {
    if (known.domain == domain && known.cbid == cbid) {
      *name = known.name;
      return CUPTI_SUCCESS;
    }
  }
  return CUPTI_ERROR_INVALID_PARAMETER;
}

FAKE void fake_cupti_call(const FakeCall* call) {
  State& s = state();
  bool recorded =
      call->driver ? s.driver_calls.contains(call->cbid) : !s.left_out.contains(call->cbid);
  if (!recorded) return;
  CUpti_ActivityAPI record{};
  record.kind = call->driver ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME;
  record.cbid = call->cbid;
  record.start = call->start;
  record.end = call->end;
  record.processId = static_cast<std::uint32_t>(::getpid());
  record.threadId = static_cast<std::uint32_t>(::gettid());
  record.correlationId = call->correlation;
  // Single driver calls are recorded without their kind being enabled.
  put(record, CUPTI_ACTIVITY_KIND_RUNTIME);
}
FAKE void fake_cupti_kernel(const FakeKernel* kernel) {
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.name = kernel->name;
  record.start = kernel->start;
  record.end = kernel->end;
  record.contextId = 1;
  record.streamId = kernel->stream;
  record.gridX = 128;
  record.gridY = record.gridZ = 1;
  record.blockX = 256;
  record.blockY = record.blockZ = 1;
  record.registersPerThread = 32;
  record.correlationId = kernel->correlation;
  if (state().latency) {
    record.queued = kernel->start - 3'000;
    record.submitted = kernel->start - 1'000;
  }
  put(record, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  if (kernel->end == 0) state().incomplete = true;
}
FAKE void fake_cupti_copy(const FakeCopy* copy) {
  CUpti_ActivityMemcpy6 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  record.copyKind = copy->kind;
  record.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  record.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.bytes = copy->bytes;
  record.start = copy->start;
  record.end = copy->end;
  record.contextId = 1;
  record.streamId = copy->stream;
  record.correlationId = copy->correlation;
  put(record, CUPTI_ACTIVITY_KIND_MEMCPY);
}
FAKE void fake_cupti_wait(const FakeWait* wait) {
  CUpti_ActivitySynchronization2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  record.type = static_cast<CUpti_ActivitySynchronizationType>(wait->type);
  record.start = wait->start;
  record.end = wait->end;
  record.correlationId = wait->correlation;
  record.contextId = 1;
  record.streamId = wait->stream;
  record.cudaEventId = UINT32_MAX;
  put(record, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
}
/// As the runtime's cudaProfilerStart and cudaProfilerStop, which call the driver's.
FAKE void fake_cupti_profiler(bool start) {
  State& s = state();
  const std::pair<int, std::uint32_t> runtime{CUPTI_CB_DOMAIN_RUNTIME_API, start ? 171 : 172};
  const std::pair<int, std::uint32_t> driver{CUPTI_CB_DOMAIN_DRIVER_API, start ? 308 : 309};
  auto tell = [&](const std::pair<int, std::uint32_t>& call, CUpti_ApiCallbackSite site) {
    CUpti_CallbackData data{};
    data.callbackSite = site;
    if (s.subscribed && s.watched.contains(call))
      s.callback(nullptr, static_cast<CUpti_CallbackDomain>(call.first), call.second, &data);
  };
  tell(runtime, CUPTI_API_ENTER);
  tell(driver, CUPTI_API_ENTER);
  tell(driver, CUPTI_API_EXIT);
  tell(runtime, CUPTI_API_EXIT);
}
/// Whether anybody still collects.
FAKE bool fake_cupti_collects() {
  State& s = state();
  std::lock_guard lock(s.mutex);
  return s.subscribed || s.kinds.contains(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

FAKE std::uint64_t fake_cupti_spent_ns() {
  return state().spent_ns;
}

// ---- what is recorded on demand -------------------------------------------------------------------

FAKE CUptiResult cuptiActivityEnableLatencyTimestamps(std::uint8_t enable) {
  state().latency = enable != 0;
  return CUPTI_SUCCESS;
}
/// Streams are their own numbers here.
FAKE CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream stream, std::uint8_t, std::uint32_t* id) {
  *id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stream));
  return *id == 0 ? CUPTI_ERROR_INVALID_STREAM : CUPTI_SUCCESS;
}
FAKE void fake_cupti_memory(const FakeMemory* memory) {
  CUpti_ActivityMemory4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = memory->release ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
                                               : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.correlationId = memory->correlation;
  record.address = memory->address;
  record.bytes = memory->bytes;
  record.timestamp = memory->time;
  record.contextId = 1;
  record.streamId = 7;
  record.isAsync = 1;
  record.name = memory->release ? nullptr : "weights";
  record.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  record.memoryPoolConfig.address = 0x7000;
  record.memoryPoolConfig.pool.size = 64 << 20;
  record.memoryPoolConfig.utilizedSize = memory->bytes;
  put(record, CUPTI_ACTIVITY_KIND_MEMORY2);
}
FAKE void fake_cupti_pool(std::uint64_t used, std::uint64_t time) {
  CUpti_ActivityMemoryPool3 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL;
  record.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED;
  record.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  record.correlationId = 3;
  record.minBytesToKeep = 1 << 20;
  record.address = 0x7000;
  record.size = 64 << 20;
  record.timestamp = time;
  record.utilizedSize = used;
  put(record, CUPTI_ACTIVITY_KIND_MEMORY_POOL);
}
