// SPDX-License-Identifier: MIT
// libcupti, found at run time.
#include <cupti.h>
#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
#include <dlfcn.h>

#include <cstddef>
#include <initializer_list>

#include "collector/inject/cupti.h"
#include "collector/wire/activity.h"

namespace headway::inject {
namespace {

/// A function of the library; calling it gives a fixed result when the library lacks it.
template <class Result, class... Arguments>
struct Function {
  Result (*call)(Arguments...) = nullptr;
  template <class... Given>
  int operator()(Given... given) const {
    return call ? static_cast<int>(call(given...)) : Cupti::kMissing;
  }
  explicit operator bool() const { return call != nullptr; }
};
template <class Result, class... Arguments>
Function<Result, Arguments...> function_like(Result (*)(Arguments...));
#define HEADWAY_CUPTI(name) decltype(function_like(&name)) name##_ = {}

constinit Cupti::BufferRequested g_requested = nullptr;
constinit Cupti::BufferCompleted g_completed = nullptr;

constinit Cupti::ProfilerCall g_on_profiler_call = nullptr;

/// Only calls of cudaProfilerStart and cudaProfilerStop are ever enabled.
void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data) {
  if (!g_on_profiler_call || !data) return;
  const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  constexpr CUpti_CallbackId kRuntimeStart = CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000;
  constexpr CUpti_CallbackId kDriverStart = CUPTI_DRIVER_TRACE_CBID_cuProfilerStart;
  const bool start = id == (runtime ? kRuntimeStart : kDriverStart);
  const bool after = static_cast<const CUpti_CallbackData*>(data)->callbackSite == CUPTI_API_EXIT;
  if (start == after) g_on_profiler_call(start);
}

void CUPTIAPI requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *most_records = 0;  // as many as fit
  g_requested(buffer, bytes);
}
void CUPTIAPI completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                        std::size_t valid_bytes) {
  g_completed(buffer, valid_bytes);
}

class CuptiLibrary final : public Cupti {
 public:
  const char* open() override {
    if (handle_) return nullptr;
    // A copy that is loaded already comes first: PyTorch's wheels bring their own, and a second
    // copy in the process would be a second owner of CUPTI.
    static constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    for (int flags : {RTLD_NOW | RTLD_NOLOAD, RTLD_NOW}) {
      for (const char* name : kNames) {
        if (!handle_) handle_ = ::dlopen(name, flags);
      }
    }
    if (!handle_) return "libcupti was not found; set LD_LIBRARY_PATH to its folder";
    bool complete = true;
    auto find = [&](auto& function, const char* name, bool needed = true) {
      function.call = reinterpret_cast<decltype(function.call)>(::dlsym(handle_, name));
      complete = complete && (function || !needed);
    };
    find(cuptiGetVersion_, "cuptiGetVersion");
    find(cuptiSubscribe_, "cuptiSubscribe");
    find(cuptiUnsubscribe_, "cuptiUnsubscribe");
    find(cuptiGetResultString_, "cuptiGetResultString", false);
    find(cuptiSetThreadIdType_, "cuptiSetThreadIdType", false);
    find(cuptiActivitySetAttribute_, "cuptiActivitySetAttribute", false);
    find(cuptiActivityRegisterCallbacks_, "cuptiActivityRegisterCallbacks");
    find(cuptiActivityEnable_, "cuptiActivityEnable");
    find(cuptiActivityDisable_, "cuptiActivityDisable", false);
    find(cuptiEnableCallback_, "cuptiEnableCallback", false);
    find(cuptiActivityEnableRuntimeApi_, "cuptiActivityEnableRuntimeApi", false);
    find(cuptiActivityEnableDriverApi_, "cuptiActivityEnableDriverApi", false);
    find(cuptiActivityEnableAllSyncRecords_, "cuptiActivityEnableAllSyncRecords", false);
    find(cuptiActivityEnableLatencyTimestamps_, "cuptiActivityEnableLatencyTimestamps", false);
    find(cuptiGetStreamIdEx_, "cuptiGetStreamIdEx", false);
    find(cuptiActivityGetNextRecord_, "cuptiActivityGetNextRecord");
    find(cuptiActivityGetNumDroppedRecords_, "cuptiActivityGetNumDroppedRecords", false);
    find(cuptiActivityFlushAll_, "cuptiActivityFlushAll");
    find(cuptiGetCallbackName_, "cuptiGetCallbackName", false);
    return complete ? nullptr : "libcupti lacks functions that Headway needs";
  }
  std::uint32_t version() override {
    std::uint32_t number = 0;
    return cuptiGetVersion_(&number) == CUPTI_SUCCESS ? number : 0;
  }
  int subscribe() override { return cuptiSubscribe_(&subscriber_, &on_callback, nullptr); }
  void unsubscribe() override { cuptiUnsubscribe_(subscriber_); }
  const char* result_text(int result) override {
    const char* text = nullptr;
    cuptiGetResultString_(static_cast<CUptiResult>(result), &text);
    return text;
  }
  void configure() override {
    cuptiSetThreadIdType_(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    // The recorder clears slots, so that CUPTI need not do it on the program's threads.
    std::uint8_t cleared = 1;
    std::size_t bytes = sizeof cleared;
    cuptiActivitySetAttribute_(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &cleared);
  }
  int register_buffers(BufferRequested on_requested, BufferCompleted on_completed) override {
    g_requested = on_requested;
    g_completed = on_completed;
    return cuptiActivityRegisterCallbacks_(&requested, &completed);
  }
  int enable(wire::ActivityKind kind) override {
    return cuptiActivityEnable_(static_cast<CUpti_ActivityKind>(kind));
  }
  int disable(wire::ActivityKind kind) override {
    return cuptiActivityDisable_(static_cast<CUpti_ActivityKind>(kind));
  }
  int watch_profiler_calls(ProfilerCall on_call) override {
    g_on_profiler_call = on_call;
    // A program that calls the driver's function does not call the runtime's.
    for (CUpti_CallbackId id :
         {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop})
      cuptiEnableCallback_(1u, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id);
    int result = 0;
    for (CUpti_CallbackId id : {CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000,
                                CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000}) {
      const int error = cuptiEnableCallback_(1u, subscriber_, CUPTI_CB_DOMAIN_RUNTIME_API, id);
      if (error != 0) result = error;
    }
    return result;
  }
  int enable_call(bool driver, std::uint32_t cbid, bool on) override {
    std::uint8_t enabled = on;
    return driver ? cuptiActivityEnableDriverApi_(cbid, enabled)
                  : cuptiActivityEnableRuntimeApi_(cbid, enabled);
  }
  void leave_out_failed_queries() override {
    cuptiActivityEnableAllSyncRecords_(static_cast<std::uint8_t>(0));
  }
  int enable_latency_timestamps() override {
    return cuptiActivityEnableLatencyTimestamps_(static_cast<std::uint8_t>(1));
  }
  int stream_number(void* stream, std::uint32_t& number) override {
    constexpr std::uint8_t kLegacyDefault = 0;
    return cuptiGetStreamIdEx_(nullptr, static_cast<CUstream>(stream), kLegacyDefault, &number);
  }
  const char* call_name(bool driver, std::uint32_t cbid) override {
    const char* name = nullptr;
    cuptiGetCallbackName_(driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, cbid,
                          &name);
    return name;
  }
  bool next_record(std::uint8_t* buffer, std::size_t valid_bytes, std::uint8_t** record) override {
    auto* next = reinterpret_cast<CUpti_Activity*>(*record);
    if (cuptiActivityGetNextRecord_(buffer, valid_bytes, &next) != CUPTI_SUCCESS) return false;
    *record = reinterpret_cast<std::uint8_t*>(next);
    return true;
  }
  std::size_t take_dropped() override {
    std::size_t dropped = 0;
    cuptiActivityGetNumDroppedRecords_(nullptr, 0u, &dropped);
    return dropped;
  }
  void flush(bool incomplete) override {
    cuptiActivityFlushAll_(incomplete ? std::uint32_t{CUPTI_ACTIVITY_FLAG_FLUSH_FORCED} : 0u);
  }

 private:
  void* handle_ = nullptr;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  HEADWAY_CUPTI(cuptiGetVersion);
  HEADWAY_CUPTI(cuptiSubscribe);
  HEADWAY_CUPTI(cuptiUnsubscribe);
  HEADWAY_CUPTI(cuptiGetResultString);
  HEADWAY_CUPTI(cuptiSetThreadIdType);
  HEADWAY_CUPTI(cuptiActivitySetAttribute);
  HEADWAY_CUPTI(cuptiActivityRegisterCallbacks);
  HEADWAY_CUPTI(cuptiActivityEnable);
  HEADWAY_CUPTI(cuptiActivityDisable);
  HEADWAY_CUPTI(cuptiEnableCallback);
  HEADWAY_CUPTI(cuptiActivityEnableRuntimeApi);
  HEADWAY_CUPTI(cuptiActivityEnableDriverApi);
  HEADWAY_CUPTI(cuptiActivityEnableAllSyncRecords);
  HEADWAY_CUPTI(cuptiActivityEnableLatencyTimestamps);
  HEADWAY_CUPTI(cuptiGetStreamIdEx);
  HEADWAY_CUPTI(cuptiActivityGetNextRecord);
  HEADWAY_CUPTI(cuptiActivityGetNumDroppedRecords);
  HEADWAY_CUPTI(cuptiActivityFlushAll);
  HEADWAY_CUPTI(cuptiGetCallbackName);
};
#undef HEADWAY_CUPTI

constinit CuptiLibrary g_library{};

// Checks that the layouts and numbers declared in wire/activity.h are those of CUPTI's headers.
namespace layout = wire::activity;
#define HEADWAY_SAME(ours, field, theirs, member) \
  static_assert(offsetof(layout::ours, field) == offsetof(theirs, member))
HEADWAY_SAME(Api, cbid, CUpti_ActivityAPI, cbid);
HEADWAY_SAME(Api, thread, CUpti_ActivityAPI, threadId);
HEADWAY_SAME(Api, return_value, CUpti_ActivityAPI, returnValue);
HEADWAY_SAME(Kernel, registers_per_thread, CUpti_ActivityKernel10, registersPerThread);
HEADWAY_SAME(Kernel, start, CUpti_ActivityKernel10, start);
HEADWAY_SAME(Kernel, grid, CUpti_ActivityKernel10, gridX);
HEADWAY_SAME(Kernel, correlation, CUpti_ActivityKernel10, correlationId);
HEADWAY_SAME(Kernel, name, CUpti_ActivityKernel10, name);
HEADWAY_SAME(Kernel, graph, CUpti_ActivityKernel10, graphId);
HEADWAY_SAME(Memcpy, correlation, CUpti_ActivityMemcpy6, correlationId);
HEADWAY_SAME(Memcpy, graph_node, CUpti_ActivityMemcpy6, graphNodeId);
HEADWAY_SAME(MemcpyPeer, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
HEADWAY_SAME(MemcpyPeer, graph_node, CUpti_ActivityMemcpyPtoP4, graphNodeId);
HEADWAY_SAME(Memset, memory_kind, CUpti_ActivityMemset4, memoryKind);
HEADWAY_SAME(Memset, graph_node, CUpti_ActivityMemset4, graphNodeId);
HEADWAY_SAME(Synchronization, event_sync, CUpti_ActivitySynchronization2, cudaEventSyncId);
HEADWAY_SAME(CudaEvent, event_sync, CUpti_ActivityCudaEvent2, cudaEventSyncId);
HEADWAY_SAME(Overhead, start, CUpti_ActivityOverhead3, start);
HEADWAY_SAME(GraphTrace, stream, CUpti_ActivityGraphTrace2, streamId);
HEADWAY_SAME(Device, capability_major, CUpti_ActivityDevice5, computeCapabilityMajor);
HEADWAY_SAME(Device, uuid, CUpti_ActivityDevice5, uuid);
HEADWAY_SAME(Device, name, CUpti_ActivityDevice5, name);
HEADWAY_SAME(Device, sm_warps, CUpti_ActivityDevice5, maxWarpsPerMultiprocessor);
HEADWAY_SAME(Device, block_threads, CUpti_ActivityDevice5, maxThreadsPerBlock);
HEADWAY_SAME(Kernel, queued, CUpti_ActivityKernel10, queued);
HEADWAY_SAME(Kernel, submitted, CUpti_ActivityKernel10, submitted);
HEADWAY_SAME(Memory, bytes, CUpti_ActivityMemory4, bytes);
HEADWAY_SAME(Memory, timestamp, CUpti_ActivityMemory4, timestamp);
HEADWAY_SAME(Memory, stream, CUpti_ActivityMemory4, streamId);
HEADWAY_SAME(Memory, name, CUpti_ActivityMemory4, name);
HEADWAY_SAME(Memory, pool_type, CUpti_ActivityMemory4, memoryPoolConfig.memoryPoolType);
HEADWAY_SAME(Memory, pool_size, CUpti_ActivityMemory4, memoryPoolConfig.pool.size);
HEADWAY_SAME(Memory, pool_used, CUpti_ActivityMemory4, memoryPoolConfig.utilizedSize);
HEADWAY_SAME(MemoryPool, min_bytes_to_keep, CUpti_ActivityMemoryPool3, minBytesToKeep);
HEADWAY_SAME(MemoryPool, timestamp, CUpti_ActivityMemoryPool3, timestamp);
HEADWAY_SAME(MemoryPool, used, CUpti_ActivityMemoryPool3, utilizedSize);
HEADWAY_SAME(Environment, environment, CUpti_ActivityEnvironment, environmentKind);
HEADWAY_SAME(Environment, data, CUpti_ActivityEnvironment, data);
HEADWAY_SAME(Context, null_stream, CUpti_ActivityContext3, nullStreamId);
HEADWAY_SAME(Stream, flag, CUpti_ActivityStream, flag);
#undef HEADWAY_SAME
static_assert(static_cast<int>(wire::ActivityKind::kKernel) ==
              CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(static_cast<int>(wire::ActivityKind::kSynchronization) ==
              CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
static_assert(static_cast<int>(wire::ActivityKind::kMemory) == CUPTI_ACTIVITY_KIND_MEMORY2);
static_assert(static_cast<int>(wire::ActivityKind::kMemoryPool) == CUPTI_ACTIVITY_KIND_MEMORY_POOL);
static_assert(static_cast<int>(wire::ActivityKind::kEnvironment) ==
              CUPTI_ACTIVITY_KIND_ENVIRONMENT);
static_assert(static_cast<int>(wire::ActivityKind::kGraphTrace) == CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
static_assert(static_cast<int>(wire::ActivityKind::kCudaEvent) == CUPTI_ACTIVITY_KIND_CUDA_EVENT);

}  // namespace

Cupti& installed_cupti() {
  return g_library;
}

}  // namespace headway::inject
