// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "collector/record/decode/segment_decoder.h"
#include "collector/record/messages/messages.h"
#include "collector/record/rows/counter_table.h"
#include "collector/record/rows/process_table.h"
#include "collector/record/rows/trace_sink.h"
#include "collector/record/scope/scope.h"

namespace headway::record {

/// Figures for the progress line, readable while another thread writes.
struct Progress {
  std::atomic<std::int64_t> events = 0;     ///< rows of events written so far
  std::atomic<std::int64_t> processes = 0;  ///< of the recorded tree
};

/// Turns messages into the trace: the only code that writes the file between its creation and its end.
/// With a scope whose decision depends on later records, drained rounds wait here in memory until they
/// are decoded. One thread.
class TraceAssembler {
 public:
  /// `set_aside(segment)` is called when the content of a segment is found damaged.
  TraceAssembler(TraceSink& sink, const ClockReading& origin, wire::Clock clock, Scope& scope,
                 Progress& progress, std::function<void(SegmentId)> set_aside);

  /// Handles messages until the queue is closed and empty.
  void run(MessageQueue& queue);
  /// Writes the rows that are known only at the end; the caller finishes the sink.
  void finish();

  const ProcessTable& processes() const { return processes_; }
  std::int64_t busiest_thread_records() const { return busiest_; }
  /// The number of calls on files, of images that have ended.
  std::int64_t io_calls() const { return io_calls_; }
  /// Mean of the processes' own measurements; 0 when there are none.
  double event_cost_ns() const;
  /// Time that the programs spent handing over CUPTI's records, of images that have ended.
  std::int64_t cuda_overhead_ns() const { return cuda_overhead_ns_; }
  const std::vector<std::string>& refusals() const { return refusals_; }
  /// The library's note about CUDA; empty when no process initialised CUDA.
  const std::string& cuda() const { return cuda_; }
  const TimeAxis& axis() const { return axis_; }

  /// Bytes that may wait in memory for --ring; older rounds beyond that are discarded.
  static constexpr std::size_t kMostHeld = 1u << 30;

 private:
  void handle(ProcessSeen& message) { processes_.seen(message); }
  void handle(ProcessEnded& message) { processes_.ended(message); }
  void handle(SegmentAdded& message);
  void handle(ProcessRefused& message);
  void handle(ProcessLeftOut&) { scope_.left_out_process(); }
  void handle(SegmentRound& message);
  void handle(Samples& message);
  void handle(ClockTick& message);
  void decode(SegmentRound& message);
  void write(const Samples& message);
  /// Decodes the rounds that have waited long enough.
  void release(std::int64_t now_monotonic_ns);
  /// Decodes the round that has waited longest.
  void release_oldest();
  /// To be called at the end: decodes all waiting rounds.
  void release_all();
  void note_calls(std::size_t until);
  /// For scopes by time or size: moves the scope on to now, and ends it when the file has its largest size.
  void check_scope();
  void count_losses(const SegmentCounters& counters, std::int64_t global_pid);

  TraceSink& sink_;
  TimeAxis axis_;
  wire::Clock clock_;
  Scope& scope_;
  Progress& progress_;
  std::function<void(SegmentId)> set_aside_;
  ProcessTable processes_;
  DomainNumbers domains_;
  GpuNumbers gpus_;
  std::map<SegmentId, std::unique_ptr<SegmentDecoder>> segments_;
  CounterTable counters_;
  std::deque<SegmentRound> held_;  ///< drained, not decoded: the scope may still discard them
  std::size_t held_bytes_ = 0;     ///< size of `held_`
  std::size_t noted_ = 0;          ///< rounds of `held_` whose calls the scope knows
  std::deque<Samples> held_samples_;
  std::vector<std::string> refusals_;
  std::string cuda_;
  std::int64_t busiest_ = 0;
  std::int64_t io_calls_ = 0;
  std::int64_t cuda_overhead_ns_ = 0;
  std::int64_t cost_sum_ps_ = 0;
  std::int64_t cost_count_ = 0;
};

}  // namespace headway::record
