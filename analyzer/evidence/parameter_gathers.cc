// SPDX-License-Identifier: MIT
#include "analyzer/evidence/parameter_gathers.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "analyzer/partition/steady_ops.h"
#include "analyzer/ranks/collectives.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// An all-gather with a smaller exposed share of its length counts as overlapped with compute.
constexpr double kExposed = 0.5;
/// Least number of all-gathers, because parameters are gathered layer by layer.
constexpr int kLayers = 2;

enum class What : std::uint8_t { kCompute, kGather, kScatter, kOther };

struct Event {
  What what = What::kCompute;
  DeviceOpId op;
  Interval time;
  std::uint32_t communicator = 0;
  std::int64_t bytes = 0;
  bool named = false;  ///< ranges around its launch say that it brings parameters
};

/// True if a range around the op's launch has a name such as "FSDP::all_gather (layers.3)",
/// "FullyShardedDataParallel._pre_forward" or DeepSpeed's "PartitionedParameterCoordinator…".
bool names_parameters(const RuleContext& context, DeviceOpId op) {
  RangeId range = context.attribution.range_of[op.value];
  for (; range.valid(); range = context.trace.ranges.parent[range.value]) {
    const std::string_view name = context.trace.strings[context.trace.ranges.name[range.value]];
    for (const std::string_view word :
         {"FSDP", "FullyShardedDataParallel", "PartitionedParameter", "all_gather_params",
          "fetch_sub_module", "AllGatherCoalesced"})
      if (name.find(word) != std::string_view::npos) return true;
  }
  return false;
}

/// Kinds and communicators of communication ops.
class Known {
 public:
  explicit Known(const RuleContext& context)
      : all_(collectives_of(context.trace, context.steps, context.attribution)) {
    std::map<std::string, std::uint32_t> communicators;
    for (const CollectiveGroup& group : all_.groups)
      communicator_.push_back(
          communicators
              .try_emplace(group.communicator, static_cast<std::uint32_t>(communicators.size()))
              .first->second);
    for (const RankCollective& row : all_.rows)
      if (!row.on_host) row_of_[row.op] = &row;
  }
  bool has_gathers() const {
    return std::ranges::any_of(all_.groups, [](const auto& g) { return g.kind == "allgather"; });
  }
  const RankCollective* row(DeviceOpId op) const {
    const auto found = row_of_.find(op.value);
    return found == row_of_.end() ? nullptr : found->second;
  }
  std::string_view kind(const RankCollective& row) const { return all_.groups[row.group].kind; }
  std::uint32_t communicator(const RankCollective& row) const { return communicator_[row.group]; }

 private:
  Collectives all_;
  std::vector<std::uint32_t> communicator_;  ///< by group
  std::map<std::uint32_t, const RankCollective*> row_of_;
};

class StepGathers {
 public:
  StepGathers(const RuleContext& context, const DevicePartition& device, const DeviceStep& step,
              const std::vector<Event>& events)
      : context_(context), device_(device), step_(step), events_(events) {}

  void find(ParameterGathers& result) const {
    std::map<std::uint32_t, bool> brings;
    for (const Event& event : events_)
      if (event.what == What::kGather && !brings.contains(event.communicator))
        brings[event.communicator] = brings_parameters(event.communicator);
    const bool steady = counts(context_.steps, step_);
    struct Last {
      std::size_t at;
      DurationNs busy;
    };
    std::map<std::uint32_t, Last> last;  // all-gather of the communicator in this step
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const Event& event = events_[i];
      if (event.what != What::kGather || !brings[event.communicator]) continue;
      const auto before = last.find(event.communicator);
      const std::size_t from = before == last.end() ? 0 : before->second.at + 1;
      const bool counted = any_compute(from, i);
      if (counted && steady) {
        ++result.gathers;
        result.bytes += event.bytes;
      }
      LateGather late;
      late.gather = event.op;
      late.steady = steady;
      if (before != last.end()) late.link_busy = before->second.busy;
      const DurationNs busy = look_back(from, i, late);
      if (counted) judge(late, result);
      last[event.communicator] = {i, busy};
    }
  }

 private:
  bool any_compute(std::size_t from, std::size_t to) const {
    return std::any_of(events_.begin() + static_cast<std::ptrdiff_t>(from),
                       events_.begin() + static_cast<std::ptrdiff_t>(to),
                       [](const Event& event) { return event.what == What::kCompute; });
  }

  /// True if enough all-gathers with compute between them precede the first reduce-scatter; without
  /// a reduce-scatter, true if ranges name them.
  bool brings_parameters(std::uint32_t communicator) const {
    int layers = 0;
    bool computed = false;
    bool named = false;
    for (const Event& event : events_) {
      computed |= event.what == What::kCompute;
      if (event.communicator != communicator) continue;
      if (event.what == What::kScatter) return layers >= kLayers;
      if (event.what != What::kGather) continue;
      layers += layers == 0 || computed;
      named |= event.named;
      computed = false;
    }
    return named;
  }

  /// Looks at the events between an all-gather and the previous one. Returns how long other
  /// communication keeps the link busy after the compute there.
  DurationNs look_back(std::size_t from, std::size_t at, LateGather& late) const {
    TimeNs covered = TimeNs::min();
    for (std::size_t i = from; i < at; ++i) {
      if (events_[i].what != What::kCompute) continue;
      if (!late.first.valid()) late.first = events_[i].op;
      const TimeNs begin = std::max(covered, events_[i].time.begin);
      if (events_[i].time.end > begin) late.compute += events_[i].time.end - begin;
      covered = std::max(covered, events_[i].time.end);
    }
    late.computed = covered;
    DurationNs busy;
    for (std::size_t i = from; i < at; ++i) {
      const Event& other = events_[i];
      if (other.what == What::kCompute) continue;
      const TimeNs until = std::min(other.time.end, covered);
      if (until > other.time.begin)  // the link was not free
        late.compute -= std::min(late.compute, until - other.time.begin);
      if (other.time.end <= covered) continue;
      late.ahead.push_back(other.op);
      busy += other.time.end - std::max(other.time.begin, covered);
    }
    return busy;
  }

  void judge(LateGather& late, ParameterGathers& result) const {
    const Interval gather = context_.trace.device_ops.interval(late.gather);
    if (late.computed > gather.begin) return;  // it began beside compute
    if (ratio(alone(gather), gather.length()) < kExposed || late.compute.ns <= 0) return;
    late.exposed = alone({late.computed, gather.end});
    if (late.steady) {
      result.exposed += late.exposed;
      result.hideable += std::min(late.exposed, late.compute);
    }
    result.late.push_back(std::move(late));
  }

  /// Time in which the device only communicates.
  DurationNs alone(Interval within) const {
    const auto first = device_.segments.begin() + step_.first_segment;
    const auto end = first + step_.segment_count;
    auto segment = std::partition_point(
        first, end, [&](const Segment& one) { return one.interval.end <= within.begin; });
    DurationNs sum;
    for (; segment != end && segment->interval.begin < within.end; ++segment)
      if (segment->time_class == TimeClass::kCommTransfer)
        sum += std::min(segment->interval.end, within.end) -
               std::max(segment->interval.begin, within.begin);
    return sum;
  }

  const RuleContext& context_;
  const DevicePartition& device_;
  const DeviceStep& step_;
  const std::vector<Event>& events_;
};

}  // namespace

ParameterGathers find_parameter_gathers(const RuleContext& context, const DevicePartition& device) {
  ParameterGathers result;
  const Known known(context);
  if (!known.has_gathers()) return result;
  const DeviceOps& ops = context.trace.device_ops;
  for (const DeviceStep& step : device.steps) {
    result.steps += counts(context.steps, step);
    std::vector<Event> events;
    auto i = static_cast<std::size_t>(
        std::lower_bound(ops.start.begin(), ops.start.end(), step.interval.begin) -
        ops.start.begin());
    for (; i < ops.size() && ops.start[i] < step.interval.end; ++i) {
      const DeviceOpId op = DeviceOpId::from(i);
      if (context.trace.streams[ops.stream[i].value].device != device.device) continue;
      Event event{What::kCompute, op, ops.interval(op), UINT32_MAX, 0, false};
      if (const RankCollective* row = known.row(op)) {
        const std::string_view kind = known.kind(*row);
        event.what = kind == "allgather"       ? What::kGather
                     : kind == "reducescatter" ? What::kScatter
                                               : What::kOther;
        event.communicator = known.communicator(*row);
        event.bytes = std::max<std::int64_t>(0, row->bytes);
        event.named = event.what == What::kGather && names_parameters(context, op);
      } else if (ops.kind[i] != DeviceOpKind::kKernel ||
                 context.attribution.phase_of[i] == Phase::kUpdate) {
        continue;  // copies are short; the update must be over before parameters can be gathered
      }
      events.push_back(event);
    }
    StepGathers(context, device, step, events).find(result);
  }
  const std::int64_t steps = std::max<std::int64_t>(1, result.steps);
  result.exposed = result.exposed / steps;
  result.hideable = result.hideable / steps;
  return result;
}

}  // namespace headway::analyzer
