// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/wire/activity.h"

namespace headway::inject {

/// The only interface through which Headway calls CUPTI; tests replace it by a fake. libcupti is
/// looked up at run time, never linked: the library must also load in programs and on machines
/// without CUDA. Results are CUPTI's own; 0 is success. A function that this version of CUPTI lacks
/// fails with kMissing.
class Cupti {
 public:
  /// Distinct from all results of CUPTI, whose errors are positive.
  static constexpr int kMissing = -1;
  /// CUPTI asks for a buffer, or hands one back (BufferCompleted). Both are called on threads of the
  /// program or of CUPTI.
  using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* bytes);
  using ProfilerCall = void (*)(bool start);  ///< see watch_profiler_calls
  using BufferCompleted = void (*)(std::uint8_t* buffer, std::size_t valid_bytes);

  /// Loads CUPTI. Null when it can be called, else the reason why not.
  virtual const char* open() = 0;
  /// CUPTI_API_VERSION of the library, e.g. 130001; 0: unknown.
  virtual std::uint32_t version() = 0;
  /// Returns 0, or CUPTI's error: another profiler in this process, no driver, no permission.
  virtual int subscribe() = 0;
  /// Ends collecting. Buffers that CUPTI holds are lost unless flush() was called before.
  virtual void unsubscribe() = 0;
  /// CUPTI's name for an error; null when it knows none.
  virtual const char* result_text(int result) = 0;

  /// Sets two options: records carry the system's thread ids, and CUPTI may rely on zeroed buffers.
  /// Before `register_buffers`.
  virtual void configure() = 0;
  /// Sets the functions from which CUPTI gets memory for its records and to which it returns it.
  /// Before `enable`.
  virtual int register_buffers(BufferRequested requested, BufferCompleted completed) = 0;
  /// Collects a kind from now on, in the whole process.
  virtual int enable(wire::ActivityKind kind) = 0;
  /// Stops collecting a kind; records of work launched before may still arrive.
  virtual int disable(wire::ActivityKind kind) = 0;
  /// Calls `on_call(true)` when cudaProfilerStart has returned and `on_call(false)` before
  /// cudaProfilerStop runs, on the thread that calls them.
  virtual int watch_profiler_calls(ProfilerCall on_call) = 0;
  /// Turns the records of one API function on or off. Call it after enabling the kind, which resets
  /// the choice.
  virtual int enable_call(bool driver, std::uint32_t cbid, bool on) = 0;
  /// Turns off the synchronisation records of queries that found the work not complete.
  virtual void leave_out_failed_queries() = 0;
  /// Kernel records also get the times at which the kernel was queued and submitted. Before the
  /// program initialises CUDA.
  virtual int enable_latency_timestamps() = 0;
  /// CUPTI's number for a stream of the current context.
  virtual int stream_number(void* stream, std::uint32_t& number) = 0;
  /// Name of a function of the API, "cudaLaunchKernel_v7000"; null when CUPTI knows none.
  virtual const char* call_name(bool driver, std::uint32_t cbid) = 0;
  /// Moves `*record` to the next record (from null: to the first); false at the end of the valid
  /// bytes.
  virtual bool next_record(std::uint8_t* buffer, std::size_t valid_bytes,
                           std::uint8_t** record) = 0;
  /// The number of records that CUPTI dropped since the last call.
  virtual std::size_t take_dropped() = 0;
  /// Hands over the buffers whose records are complete; with `incomplete`, which is for the very
  /// end, all buffers.
  virtual void flush(bool incomplete) = 0;

 protected:
  ~Cupti() = default;  // never destroyed through this interface
};

/// The real CUPTI; in a build without it (HEADWAY_CUDA=OFF) an object whose open() fails.
Cupti& installed_cupti();

}  // namespace headway::inject
