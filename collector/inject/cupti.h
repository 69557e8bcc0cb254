// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/wire/activity.h"

namespace headway::inject {

/// The one thing in Headway that calls CUPTI; tests put a fake in its place. libcupti is looked up
/// at run time, never linked: the library has to load in programs and on machines without CUDA.
/// Results are CUPTI's own: 0 is success. What a version of CUPTI lacks fails with kMissing.
class Cupti {
 public:
  /// No result of CUPTI itself, whose errors are positive.
  static constexpr int kMissing = -1;
  /// CUPTI asks for memory; both called on threads of the program or of CUPTI.
  using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* bytes);
  using ProfilerCall = void (*)(bool start);  ///< see watch_profiler_calls
  using BufferCompleted = void (*)(std::uint8_t* buffer, std::size_t valid_bytes);

  /// Null when CUPTI can be called, else why not.
  virtual const char* open() = 0;
  /// CUPTI_API_VERSION of the library, e.g. 130001; 0 unknown.
  virtual std::uint32_t version() = 0;
  /// 0, or CUPTI's error: another profiler in this process, no driver, no permission.
  virtual int subscribe() = 0;
  /// Nothing is collected any more; buffers that CUPTI holds are lost unless flush() came before.
  virtual void unsubscribe() = 0;
  /// CUPTI's name for an error; null when it knows none.
  virtual const char* result_text(int result) = 0;

  /// Thread ids as the system counts them, and buffers that come cleared. Before `register_buffers`.
  virtual void configure() = 0;
  /// Where CUPTI gets and gives back the memory for its records. Before `enable`.
  virtual int register_buffers(BufferRequested requested, BufferCompleted completed) = 0;
  /// Collects a kind from now on; the setting is of the process.
  virtual int enable(wire::ActivityKind kind) = 0;
  /// Collects it no longer; work that was launched before may still come.
  virtual int disable(wire::ActivityKind kind) = 0;
  /// Tells of cudaProfilerStart once it is done (true) and of cudaProfilerStop before it is (false),
  /// on the thread that calls them.
  virtual int watch_profiler_calls(ProfilerCall on_call) = 0;
  /// One function of the API; after enabling the kind, which resets the choice.
  virtual int enable_call(bool driver, std::uint32_t cbid, bool on) = 0;
  /// Synchronisation records also for queries that found nothing done: off.
  virtual void leave_out_failed_queries() = 0;
  /// Kernels also tell when they were queued and submitted. Before the program initialises CUDA.
  virtual int enable_latency_timestamps() = 0;
  /// CUPTI's number for a stream of the current context.
  virtual int stream_number(void* stream, std::uint32_t& number) = 0;
  /// Name of a function of the API, "cudaLaunchKernel_v7000"; null when CUPTI knows none.
  virtual const char* call_name(bool driver, std::uint32_t cbid) = 0;
  /// The record after `*record` (null: the first); false at the end of what is valid.
  virtual bool next_record(std::uint8_t* buffer, std::size_t valid_bytes,
                           std::uint8_t** record) = 0;
  /// Records that CUPTI dropped since the last call.
  virtual std::size_t take_dropped() = 0;
  /// Hands over buffers whose records are complete; with `incomplete` all of them, at the very end.
  virtual void flush(bool incomplete) = 0;

 protected:
  ~Cupti() = default;  // never destroyed through this
};

/// The real one, or one that says that this build has none (HEADWAY_CUDA=OFF).
Cupti& installed_cupti();

}  // namespace headway::inject
