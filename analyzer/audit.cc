// SPDX-License-Identifier: MIT
#include "analyzer/audit.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "common/error.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr std::array<AuditCheck, static_cast<std::size_t>(Audit::kCount_)> kChecks = {{
    {Audit::kOpWithoutDuration, "op_without_duration", Severity::kInfo,
     "Device ops start and end in the same nanosecond: they count as work but take no time. Some "
     "recorders write this after losing an op's end."},
    {Audit::kOverlapOnStream, "overlap_on_stream", Severity::kDoubt,
     "Device ops overlap on one stream, where only one can run at a time. Either timestamps are "
     "inexact, or programmatic dependent launch starts ops early. Overlapping time counts once."},
    {Audit::kOpFarTooLong, "op_far_too_long", Severity::kDoubt,
     "Kernels last over a second and 1,000 times longer than the median of the same name: the "
     "recorder lost their end, or a collective waited for a rank. Check them before you trust the "
     "figures."},
    {Audit::kCrossingRanges, "crossing_ranges", Severity::kInfo,
     "Ranges on one thread overlap without nesting; overlapping time counts for the range that "
     "began last."},
    {Audit::kCallsCross, "crossing_calls", Severity::kInfo,
     "API calls on one thread overlap without nesting: thread ids were reused, or the clock was "
     "stepped."},
    {Audit::kSharedRank, "shared_rank", Severity::kDoubt,
     "Processes on different devices claim the same rank, which mixes rank figures. Were several "
     "runs recorded together?"},
    {Audit::kCollectiveWithoutOp, "collective_without_op", Severity::kInfo,
     "Collectives are recorded on the host only: their device time cannot be separated from other "
     "communication."},
    {Audit::kCounterBackwards, "counter_backwards", Severity::kDoubt,
     "Counter samples go back in time; they are shown unchanged."},
}};

constexpr bool in_enum_order() {
  for (std::size_t i = 0; i < kChecks.size(); ++i) {
    if (kChecks[i].check != static_cast<Audit>(i)) return false;
  }
  return true;
}
static_assert(in_enum_order(), "kChecks must list the checks in the order of enum Audit");

class Auditor {
 public:
  explicit Auditor(const Trace& trace) : trace_(trace) {
    for (std::size_t i = 0; i < results_.size(); ++i) results_[i].check = static_cast<Audit>(i);
  }

  std::vector<AuditResult> run() {
    check_device_ops();
    check_long_kernels();
    check_ranges();
    check_calls();
    check_ranks();
    check_rest();
    std::vector<AuditResult> found;
    for (const AuditResult& result : results_) {
      if (result.count > 0) found.push_back(result);
    }
    return found;
  }

 private:
  void add(Audit check, EventRef event, DurationNs time = {}) {
    AuditResult& result = results_[static_cast<std::size_t>(check)];
    if (result.count++ == 0) result.first = event;
    result.time += time;
  }

  void check_device_ops() {
    const DeviceOps& ops = trace_.device_ops;
    std::vector<TimeNs> busy_until(trace_.streams.size(), TimeNs::min());
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      TimeNs& until = busy_until[ops.stream[i].value];
      if (ops.start[i] == ops.end[i]) add(Audit::kOpWithoutDuration, EventRef::of(DeviceOpId{i}));
      if (ops.start[i] < until)
        add(Audit::kOverlapOnStream, EventRef::of(DeviceOpId{i}),
            std::min(until, ops.end[i]) - ops.start[i]);
      until = std::max(until, ops.end[i]);
    }
  }

  void check_long_kernels() {
    constexpr DurationNs kLong{1'000'000'000};
    constexpr std::int64_t kTimesMedian = 1000;
    const DeviceOps& ops = trace_.device_ops;
    std::vector<DeviceOpId> suspects;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      if (ops.end[i] - ops.start[i] > kLong && ops.kind[i] == DeviceOpKind::kKernel)
        suspects.push_back(DeviceOpId{i});
    }
    std::map<StringId, std::vector<std::int64_t>> durations;
    for (DeviceOpId op : suspects) durations[ops.name[op.value]];
    if (suspects.empty()) return;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      auto found = durations.find(ops.name[i]);
      if (found != durations.end()) found->second.push_back((ops.end[i] - ops.start[i]).ns);
    }
    for (auto& [name, of] : durations)
      std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2),
                       of.end());
    for (DeviceOpId op : suspects) {
      const std::vector<std::int64_t>& of = durations[ops.name[op.value]];
      DurationNs length = ops.end[op.value] - ops.start[op.value];
      if (of.size() >= 10 && length.ns / kTimesMedian > of[of.size() / 2])
        add(Audit::kOpFarTooLong, EventRef::of(op), length);
    }
  }

  void check_ranges() {
    const Ranges& ranges = trace_.ranges;
    std::vector<RangeId> last(trace_.threads.size());
    for (std::uint32_t i = 0; i < ranges.size(); ++i) {
      RangeId id{i};
      if (ranges.is(id, Ranges::kMark) || ranges.is(id, Ranges::kStartEnd)) continue;
      // Only crossing the previous range leaves no trace in the parents: further out, the loader
      // found the innermost range around this one.
      RangeId before = std::exchange(last[ranges.thread[i].value], id);
      if (before.valid() && ranges.start[i] < ranges.end[before.value] &&
          ranges.end[i] > ranges.end[before.value] &&
          ranges.domain[i] == ranges.domain[before.value])
        add(Audit::kCrossingRanges, EventRef::of(id), ranges.end[before.value] - ranges.start[i]);
    }
  }

  void check_calls() {
    const Calls& calls = trace_.calls;
    std::vector<TimeNs> until(trace_.threads.size(), TimeNs::min());
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      TimeNs& end = until[calls.thread[i].value];
      if (calls.start[i] < end && calls.end[i] > end)
        add(Audit::kCallsCross, EventRef::of(CallId{i}), end - calls.start[i]);
      end = calls.end[i];
    }
  }

  /// Processes of one rank that drive different devices are two ranks with one name.
  void check_ranks() {
    std::vector<DeviceId> device_of(trace_.processes.size());
    for (const Stream& stream : trace_.streams) {
      if (stream.process.valid() && !device_of[stream.process.value].valid())
        device_of[stream.process.value] = stream.device;
    }
    std::map<std::int32_t, DeviceId> device_of_rank;
    bool ranked = std::any_of(trace_.processes.begin(), trace_.processes.end(),
                              [](const Process& p) { return p.rank != 0; });
    if (!ranked) return;  // nothing says that it is a distributed run
    for (std::size_t p = 0; p < trace_.processes.size(); ++p) {
      if (!device_of[p].valid()) continue;
      auto [slot, is_new] = device_of_rank.try_emplace(trace_.processes[p].rank, device_of[p]);
      if (!is_new && slot->second != device_of[p]) add(Audit::kSharedRank, EventRef{});
    }
  }

  void check_rest() {
    for (const Collective& collective : trace_.collectives) {
      if (!collective.op.valid())
        add(Audit::kCollectiveWithoutOp,
            collective.range.valid() ? EventRef::of(collective.range) : EventRef{});
    }
    for (const CounterSeries& series : trace_.counters) {
      if (!std::is_sorted(series.time.begin(), series.time.end()))
        add(Audit::kCounterBackwards, EventRef{});
    }
  }

  const Trace& trace_;
  std::array<AuditResult, static_cast<std::size_t>(Audit::kCount_)> results_;
};

}  // namespace

std::span<const AuditCheck> audit_checks() {
  return kChecks;
}

const AuditCheck& audit_check(Audit check) {
  HEADWAY_INVARIANT(check < Audit::kCount_);
  return kChecks[static_cast<std::size_t>(check)];
}

std::vector<AuditResult> audit(const Trace& trace) {
  return Auditor(trace).run();
}

}  // namespace headway::analyzer
