// SPDX-License-Identifier: MIT
#include "trace/save/context.h"

#include <algorithm>
#include <unordered_set>

namespace headway::trace::save_detail {
namespace {

constexpr std::int64_t kTidMask = 0xffffff;

std::vector<std::int64_t> process_keys(const Trace& trace) {
  std::vector<std::int64_t> keys;
  std::unordered_set<std::int64_t> used;
  for (const Process& process : trace.processes) {
    std::int64_t key = process.global_pid;
    // Made-up keys have a host number (bits 56 and up) that no recording has.
    for (std::int64_t n = static_cast<std::int64_t>(keys.size());
         (key & kTidMask) != 0 || !used.insert(key).second; ++n) {
      key = (std::int64_t{0x7e} << 56) | ((n + 1) << 24);
    }
    keys.push_back(key);
  }
  return keys;
}

std::vector<std::int64_t> thread_keys(const Trace& trace,
                                      const std::vector<std::int64_t>& process_key) {
  std::vector<std::int64_t> keys;
  std::unordered_set<std::int64_t> used;
  for (const Thread& thread : trace.threads) {
    std::int64_t pid = process_key[thread.process.value];
    std::int64_t key = thread.global_tid;
    for (std::int64_t n = static_cast<std::int64_t>(keys.size());
         (key & ~kTidMask) != pid || !used.insert(key).second; ++n) {
      key = pid | (kTidMask - n % kTidMask);
    }
    keys.push_back(key);
  }
  return keys;
}

/// Links between calls and ops are stored as correlation ids, which must be unique in a process and
/// fit into 32 bits. If the trace's ids do, they are kept; else all calls get new ones.
std::vector<std::int64_t> number_correlations(const Trace& trace) {
  const Calls& calls = trace.calls;
  std::vector<std::int64_t> numbers;
  numbers.reserve(calls.size());
  for (std::uint64_t correlation : calls.correlation)
    numbers.push_back(static_cast<std::int64_t>(correlation));

  struct Use {
    std::uint32_t process;
    std::uint64_t correlation;
    std::uint32_t call;
    bool operator<(const Use& other) const {
      return std::tie(process, correlation, call) <
             std::tie(other.process, other.correlation, other.call);
    }
  };
  std::vector<Use> uses;
  std::vector<bool> enqueues(calls.size());
  for (CallId call : trace.device_ops.call) {
    if (call.valid()) enqueues[call.value] = true;
  }
  bool usable = true;
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    if (calls.correlation[i] != 0)
      uses.push_back({trace.threads[calls.thread[i].value].process.value, calls.correlation[i], i});
    if (enqueues[i] && (calls.correlation[i] == 0 || calls.correlation[i] >= UINT32_MAX))
      usable = false;
  }
  if (!std::is_sorted(uses.begin(), uses.end())) std::sort(uses.begin(), uses.end());
  // A reader takes the last of several calls with one id, so only the last may have ops.
  for (std::size_t i = 1; i < uses.size() && usable; ++i) {
    if (uses[i].process == uses[i - 1].process && uses[i].correlation == uses[i - 1].correlation)
      usable = !enqueues[uses[i - 1].call];
  }
  if (!usable) {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i + 1);
  }
  return numbers;
}

}  // namespace

OpTable table_of(const Trace& trace, std::size_t op) {
  StreamId stream = trace.device_ops.stream[op];
  if (trace.devices[trace.streams[stream.value].device.value].type != DeviceType::kCuda)
    return OpTable::kOwn;
  switch (trace.device_ops.kind[op]) {
    case DeviceOpKind::kKernel:
    case DeviceOpKind::kCommunication:
      return OpTable::kKernel;
    case DeviceOpKind::kMemset:
      return OpTable::kMemset;
    default:
      return OpTable::kMemcpy;
  }
}

Context::Context(const Trace& source, TraceWriter& target)
    : trace(source),
      writer(target),
      process_key(process_keys(source)),
      thread_key(thread_keys(source, process_key)),
      correlation(number_correlations(source)),
      string_ids_(source.strings.size(), StringId::none()) {}

StringId Context::string(StringId id) {
  if (id.value >= string_ids_.size()) return writer.intern(trace.strings[id]);
  StringId& known = string_ids_[id.value];
  if (!known.valid()) known = writer.intern(trace.strings[id]);
  return known;
}

std::optional<StringId> Context::string_or_null(StringId id) {
  if (!id.valid()) return std::nullopt;
  return string(id);
}

std::int64_t Context::pid(StreamId stream) const {
  ProcessId process = trace.streams[stream.value].process;
  return process.valid() ? process_key[process.value] : 0;
}

bool Context::is_cuda(StreamId stream) const {
  return trace.devices[trace.streams[stream.value].device.value].type == DeviceType::kCuda;
}

}  // namespace headway::trace::save_detail
