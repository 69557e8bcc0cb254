// SPDX-License-Identifier: MIT
#include "trace/export/chrome_rows.h"

#include <set>

#include "trace/import/kineto/vocabulary.h"

namespace headway::trace::export_detail {
namespace {

/// `wanted` if it is free, else the first free number from `beyond` on.
template <class Key>
std::int64_t unique_number(std::set<Key>& used, std::int64_t wanted, std::int64_t beyond,
                           auto make_key) {
  std::int64_t number = wanted;
  if (used.insert(make_key(number)).second) return number;
  for (number = beyond; !used.insert(make_key(number)).second;) ++number;
  return number;
}

}  // namespace

ChromeRows::ChromeRows(const Trace& trace) {
  constexpr std::int64_t kBeyondPids = 100'000'000;  // Linux allows at most 2^22
  constexpr std::int64_t kBeyondTids = 5'000'000'000;
  std::set<std::int64_t> pids;
  auto same = [](std::int64_t number) { return number; };
  // Devices come first, because readers find annotations on them by these numbers. Process 0 is the
  // profiler's.
  for (const Device& one : trace.devices)
    device.push_back(unique_number(pids, one.ordinal, kBeyondPids, same));
  for (const Process& one : trace.processes)
    process.push_back(unique_number(pids, one.pid, kBeyondPids, same));
  std::set<std::pair<std::int64_t, std::int64_t>> rows;
  auto add = [&](std::int64_t pid, std::int64_t tid) {
    auto key = [&](std::int64_t number) { return std::pair(pid, number); };
    return ChromeRow{pid, unique_number(rows, tid, kBeyondTids, key)};
  };
  for (const Stream& one : trace.streams)
    stream.push_back(add(device[one.device.value], one.ordinal));
  for (const Thread& one : trace.threads) {
    const ChromeRow* annotated = row_of_annotations(trace, one);
    is_stream.push_back(annotated != nullptr);
    thread.push_back(annotated ? *annotated : add(process[one.process.value], one.tid));
  }

  std::size_t callers = 0;
  ProcessId last;
  for (ThreadId caller : trace.calls.thread) {
    ProcessId owner = trace.threads[caller.value].process;
    if (owner != last) ++callers;
    last = owner;
    if (callers > 1) break;
  }
  for (std::size_t i = 0; i < trace.calls.size(); ++i) {
    std::uint64_t own = trace.calls.correlation[i];
    // Processes number their calls independently, so calls of several processes get new numbers.
    correlation.push_back(own == 0                         ? 0
                          : callers > 1 || own > INT64_MAX ? static_cast<std::int64_t>(i + 1)
                                                           : static_cast<std::int64_t>(own));
  }
}

const ChromeRow* ChromeRows::row_of_annotations(const Trace& trace, const Thread& one) const {
  auto named = kineto::parse_annotations_row(one.name);
  if (!named) return nullptr;
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    const Stream& candidate = trace.streams[i];
    if (candidate.process == one.process && candidate.ordinal == named->second &&
        trace.devices[candidate.device.value].ordinal == named->first)
      return &stream[i];
  }
  return nullptr;
}

}  // namespace headway::trace::export_detail
