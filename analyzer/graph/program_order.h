// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "trace/trace.h"

namespace headway::analyzer {

/// What a program had enqueued at which time. Answers "which op does this wait mean?".
class ProgramOrder {
 public:
  explicit ProgramOrder(const trace::Trace& trace);

  /// The last op of `stream` whose call began before `t`; none when there is none. O(log n).
  trace::DeviceOpId last_before(trace::StreamId stream, TimeNs t) const;
  /// The first op of `stream` whose call began at or after `t`; none when there is none.
  trace::DeviceOpId first_from(trace::StreamId stream, TimeNs t) const;
  /// The streams of a process that have work.
  const std::vector<trace::StreamId>& streams_of(trace::ProcessId process) const {
    return streams_[process.value];
  }

  struct Target {
    trace::DeviceOpId op;  ///< none: unknown, or nothing was enqueued
    bool inferred = false;
  };
  /// The op that `wait` (a stream or host wait) waits for through its event: the last op enqueued
  /// before the event was recorded.
  Target awaited_by(trace::CallId wait) const;
  /// The stream that `stream` stands for; see `meant_`.
  trace::StreamId meant(trace::StreamId stream) const { return meant_[stream.value]; }
  /// The stream that a call works on: its own, else that of its thread's work next to it (after
  /// waits, before records).
  trace::StreamId stream_of(trace::CallId call) const;

 private:
  struct Record {
    trace::ProcessId process;
    std::uint64_t id;
    TimeNs start;
    trace::CallId call;
    auto key() const { return std::tuple(process, id, start, call); }
  };
  trace::ProcessId process_of(trace::CallId call) const {
    return trace_.threads[trace_.calls.thread[call.value].value].process;
  }
  trace::CallId record_of(trace::CallId wait) const;

  const trace::Trace& trace_;
  std::vector<std::vector<trace::StreamId>> streams_;
  /// Per stream: itself, or for a stream without work the stream of its process and number that has
  /// work. Nsight Systems names device 0 in synchronisations with streams of other devices.
  std::vector<trace::StreamId> meant_;
  /// Per device op: when it had been enqueued, never decreasing along a stream. An op without a
  /// call, launched before the recording began, counts as enqueued with the op before it.
  std::vector<TimeNs> launched_;
  std::vector<Record> records_;  ///< with ids, by key()
};

}  // namespace headway::analyzer
