// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/time.h"
#include "trace/trace.h"

namespace headway::planted {

/// What the simulation saw, of all ranks: rows with plain indexes, in the order they were made.
struct Recording {
  struct Process {
    int rank = 0;
    std::string name;
    std::optional<TimeNs> start;
  };
  struct Thread {
    int process = 0;
    std::string name;
    int tid = 0;
  };
  struct Device {
    int rank = 0;
    trace::Device facts;
    DurationNs latency{6'000};
    DurationNs gap{800};
    std::int64_t queue = 1024;  ///< launches that may be outstanding
  };
  struct Stream {
    int device = 0;
    std::string name;
    int ordinal = 0;
  };
  struct Range {
    int thread = 0;
    std::string name;
    std::string domain;
    Interval interval;
    std::uint8_t flags = 0;
    bool has_info = false;
    trace::RangeInfo info;
    std::string shapes;
    std::string dtypes;
  };
  struct Call {
    int thread = 0;
    std::string name;
    Interval interval;
    trace::DeviceCallKind kind = trace::DeviceCallKind::kOther;
    int stream = -1;
    std::uint64_t correlation = 0;
    std::uint64_t sync_id = 0;
    std::int64_t bytes = 0;
  };
  struct Op {
    int call = -1;
    int stream = 0;
    std::string name;
    Interval interval;
    trace::DeviceOpKind kind = trace::DeviceOpKind::kKernel;
    trace::Phase phase = trace::Phase::kNone;
    trace::MathUnit math = trace::MathUnit::kUnknown;
    trace::MemoryKind source = trace::MemoryKind::kUnknown;
    trace::MemoryKind destination = trace::MemoryKind::kUnknown;
    std::int64_t bytes = 0;
    std::int64_t flops = 0;
    std::int64_t op = -1;
    std::int64_t batch = -1;
    std::int64_t blocks = 0;
    std::int64_t threads = 0;
  };
  struct Collective {
    int op = 0;
    std::string kind;
    std::string communicator;
    std::string dtype;
    std::int64_t bytes = 0;
    std::int64_t sequence = 0;
    int ranks = 0;
    int peer = -1;  ///< rank at the other end of a message
  };
  struct Overhead {
    int thread = 0;
    std::string name;
    Interval interval;
    trace::Overhead::Kind kind = trace::Overhead::Kind::kOther;
  };

  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Device> devices;
  std::vector<Stream> streams;
  std::vector<Range> ranges;
  std::vector<Call> calls;
  std::vector<Op> ops;
  std::vector<Collective> collectives;
  std::vector<Overhead> overheads;

  int rank_of_thread(int thread) const { return processes[threads[thread].process].rank; }
  int rank_of_stream(int stream) const { return devices[streams[stream].device].rank; }
};

}  // namespace headway::planted
