// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <string_view>

#include "analyzer/graph/critical_path.h"
#include "trace/trace.h"

namespace headway::test {

/// A trace made in memory, event by event, for graphs: several processes (ranks), threads, streams,
/// events with ids. Each kind of event must be added in the order of its start. Times in ns. One CUDA
/// device a process.
class GraphTrace {
 public:
  trace::ProcessId process(std::int32_t rank = 0);
  trace::ThreadId thread(trace::ProcessId process, std::string_view name = "thread");
  trace::StreamId stream(trace::ProcessId process);
  /// One with the number of `like`, as recordings that name the wrong device have it.
  trace::StreamId stream(trace::ProcessId process, trace::StreamId like);

  struct CallOptions {
    trace::StreamId stream = {};
    std::uint64_t sync_id = 0;
    std::string_view name = "call";
  };
  trace::CallId call(trace::ThreadId thread, trace::DeviceCallKind kind, std::int64_t start,
                     std::int64_t end, CallOptions options);
  trace::CallId call(trace::ThreadId thread, trace::DeviceCallKind kind, std::int64_t start,
                     std::int64_t end) {
    return call(thread, kind, start, end, CallOptions{});
  }
  trace::CallId launch(trace::ThreadId thread, std::int64_t start, std::int64_t end) {
    return call(thread, trace::DeviceCallKind::kLaunch, start, end, {.name = "cudaLaunchKernel"});
  }
  trace::DeviceOpId op(trace::StreamId stream, trace::CallId call, std::int64_t start,
                       std::int64_t end, std::string_view name = "kernel",
                       trace::DeviceOpKind kind = trace::DeviceOpKind::kKernel);
  trace::RangeId range(trace::ThreadId thread, std::string_view name, std::int64_t start,
                       std::int64_t end, trace::RangeInfo info = {});
  void collective(trace::DeviceOpId op, std::int64_t sequence);

  /// Groups the rows; call it once, last.
  const trace::Trace& finish();

 private:
  trace::Trace trace_;
};

/// One word for a piece: "compute:kernel".
std::string word(const trace::Trace& trace, const analyzer::PathPiece& piece);
/// The whole path in words, with neighbours of equal words joined: "host:(none) launch:a compute:a".
std::string words(const trace::Trace& trace, const analyzer::CriticalPath& path);

/// The path over the whole device work, without steps.
analyzer::CriticalPath path_of(const trace::Trace& trace);

}  // namespace headway::test
