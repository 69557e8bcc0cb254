// SPDX-License-Identifier: MIT
#include "analyzer/evidence/early_exchanges.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "analyzer/evidence/layer_exchanges.h"
#include "analyzer/steps/range_names.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Least share of the steady steps that have the same passes.
constexpr double kMost = 0.9;
/// Least time of the exchange in an earlier pass, as a share of the one in the last pass. Under
/// no_sync(), PyTorch's hook waits for nothing in earlier passes.
constexpr double kSameExchange = 0.2;

/// Sums for all ranks or for a parameter server, in one collective or in stages; compressed gradients are gathered.
bool sums_gradients(std::string_view kind) {
  return kind == "allreduce" || kind == "reduce" || kind == "reducescatter" || kind == "allgather";
}

class Finder {
 public:
  Finder(const RuleContext& context, const RangeNames& names, const std::set<DeviceOpId>& of_layers,
         const DevicePartition& partition)
      : context_(context),
        trace_(context.trace),
        names_(names),
        of_layers_(of_layers),
        partition_(partition) {}

  EarlyExchanges find() {
    result_.passes = usual_passes();
    if (result_.passes < 2) return {};
    if (partition_.device.valid()) collect_launches();
    std::int64_t steady = 0;
    std::int64_t alike = 0;
    for (const DeviceStep& of_device : partition_.steps) {
      const Step& step = context_.steps.all[of_device.step];
      const std::vector<Interval> passes = passes_of(step);
      const bool early =
          std::ssize(passes) == result_.passes && !updates_between(step, passes) &&
          (partition_.device.valid() ? add_launches(step, passes) : add_ranges(step, passes));
      steady += step.steady ? 1 : 0;
      alike += step.steady && early ? 1 : 0;
    }
    const bool most = static_cast<double>(alike) >=
                      kMost * static_cast<double>(std::max<std::int64_t>(1, steady));
    const bool exchange = partition_.device.valid() ||
                          ratio(after_others_ / (result_.passes - 1), after_last_) >= kSameExchange;
    if (!most || !exchange) return {};
    return std::move(result_);
  }

 private:
  Phase phase_of(RangeId range) const {
    const RangeInfoId info = trace_.ranges.info[range.value];
    const Phase told = info.valid() ? trace_.range_info[info.value].phase : Phase::kNone;
    return told != Phase::kNone ? told : names_[range].phase;
  }
  bool communicates(RangeId range) const {
    return phase_of(range) == Phase::kCommunication || names_[range].communication;
  }

  /// Ranges of the thread that begin in the window, by start.
  std::span<const RangeId> ranges_in(ThreadId thread, Interval window) const {
    const auto all = trace_.ranges_of_thread[thread];
    const auto start = [&](RangeId r) { return trace_.ranges.start[r.value]; };
    const auto first = std::ranges::lower_bound(all, window.begin, {}, start);
    const auto last = std::ranges::lower_bound(first, all.end(), window.end, {}, start);
    return {first, last};
  }

  /// The outermost ranges of the backward phase.
  std::vector<Interval> passes_of(const Step& step) const {
    std::vector<Interval> passes;
    for (RangeId range : ranges_in(step.thread, step.host)) {
      if (trace_.ranges.is(range, Ranges::kMark) || phase_of(range) != Phase::kBackward) continue;
      const Interval its = trace_.ranges.interval(range);
      if (passes.empty() || its.begin >= passes.back().end) passes.push_back(its);
    }
    return passes;
  }

  /// True if an update phase lies between passes: then gradients are not accumulated.
  bool updates_between(const Step& step, std::span<const Interval> passes) const {
    return std::ranges::any_of(ranges_in(step.thread, {passes.front().begin, passes.back().begin}),
                               [&](RangeId range) { return phase_of(range) == Phase::kUpdate; });
  }

  /// Backward passes of nearly every steady step; 0 if the steps do not agree.
  std::int64_t usual_passes() const {
    std::map<std::int64_t, std::int64_t> steps_with;
    std::int64_t steady = 0;
    for (const DeviceStep& of_device : partition_.steps) {
      const Step& step = context_.steps.all[of_device.step];
      if (!step.steady) continue;
      ++steady;
      ++steps_with[std::ssize(passes_of(step))];
    }
    for (const auto& [passes, steps] : steps_with)
      if (static_cast<double>(steps) >= kMost * static_cast<double>(steady)) return passes;
    return 0;
  }

  struct Launch {
    TimeNs at;
    DeviceOpId op;
    std::int64_t bytes;  ///< of a sum
    bool sums;
  };

  /// Sums of gradients, and other ops of the exchange on their streams, by launch.
  void collect_launches() {
    std::map<DeviceOpId, std::int64_t> sums;
    std::set<StreamId> streams;
    for (const Collective& one : trace_.collectives) {
      if (!one.op.valid() || !sums_gradients(trace_.strings[one.kind]) ||
          of_layers_.contains(one.op))
        continue;
      const StreamId stream = trace_.device_ops.stream[one.op.value];
      if (trace_.streams[stream.value].device != partition_.device) continue;
      sums[one.op] = one.bytes;
      streams.insert(stream);
    }
    for (StreamId stream : streams)
      for (DeviceOpId op : trace_.ops_of_stream[stream]) {
        const CallId call = trace_.device_ops.call[op.value];
        const auto sum = sums.find(op);
        const bool packs = context_.attribution.phase_of[op.value] == Phase::kCommunication;
        if (call.valid() && (sum != sums.end() || packs))
          launches_.push_back({trace_.calls.start[call.value], op,
                               sum != sums.end() ? sum->second : 0, sum != sums.end()});
      }
    std::ranges::sort(launches_, {}, [](const Launch& one) { return std::pair(one.at, one.op); });
  }

  /// The launches in a window of host time.
  std::span<const Launch> launches_in(Interval window) const {
    const auto first = std::ranges::lower_bound(launches_, window.begin, {}, &Launch::at);
    const auto last = std::ranges::lower_bound(first, launches_.end(), window.end, {}, &Launch::at);
    return {first, last};
  }

  bool add_launches(const Step& step, std::span<const Interval> passes) {
    std::vector<std::int64_t> of_first;
    for (std::size_t p = 0; p < passes.size(); ++p) {
      const TimeNs end = p + 1 < passes.size() ? passes[p + 1].begin : step.next;
      std::vector<std::int64_t> bytes;
      for (const Launch& one : launches_in({passes[p].begin, end}))
        if (one.sums) bytes.push_back(one.bytes);
      if (p == 0) of_first = bytes;
      // More all-reduces may follow the last pass, for example of a logged loss.
      if (p + 1 == passes.size() && bytes.size() > of_first.size()) bytes.resize(of_first.size());
      if (bytes.empty() || bytes != of_first) return false;
    }
    for (const Launch& one : launches_in({passes.front().begin, passes.back().begin}))
      (one.sums ? result_.sums : result_.kernels).push_back(one.op);
    return true;
  }

  bool add_ranges(const Step& step, std::span<const Interval> passes) {
    std::vector<RangeId> early;
    for (std::size_t p = 0; p < passes.size(); ++p) {
      const bool last = p + 1 == passes.size();
      bool any = false;
      const TimeNs end = last ? passes[p].end : passes[p + 1].begin;
      TimeNs covered = passes[p].begin;
      for (RangeId range : ranges_in(step.thread, {passes[p].begin, end})) {
        const Interval its = trace_.ranges.interval(range);
        if (its.begin < covered || !communicates(range)) continue;
        covered = its.end;
        const bool in_pass = its.begin < passes[p].end;
        any |= in_pass;
        if (in_pass) (last ? after_last_ : after_others_) += its.length();
        // Broadcasts of a model's buffers precede a forward pass whose backward pass exchanges.
        const bool of_buffers = trace_.strings[trace_.ranges.name[range.value]].find("broadcast") !=
                                std::string_view::npos;
        if (!last && (in_pass || of_buffers)) early.push_back(range);
      }
      if (!any) return false;
    }
    result_.ranges.insert(result_.ranges.end(), early.begin(), early.end());
    return true;
  }

  const RuleContext& context_;
  const Trace& trace_;
  const RangeNames& names_;
  const std::set<DeviceOpId>& of_layers_;
  const DevicePartition& partition_;
  std::vector<Launch> launches_;
  DurationNs after_last_;  ///< host thread's communication in last passes
  DurationNs after_others_;
  EarlyExchanges result_;
};

}  // namespace

std::vector<EarlyExchanges> find_early_exchanges(const RuleContext& context,
                                                 std::span<const DevicePartition> partitions) {
  std::vector<EarlyExchanges> found(partitions.size());
  auto communicates = [](const DevicePartition& one) {
    return one.hidden_comm.ns > 0 || one.per_steady_step[TimeClass::kCommTransfer].ns > 0;
  };
  if (context.steps.all.empty() || std::ranges::none_of(partitions, communicates)) return found;
  const RangeNames names(context.trace);
  const std::set<DeviceOpId> of_layers = find_layer_exchanges(context).ops(context.trace);
  for (std::size_t p = 0; p < partitions.size(); ++p)
    if (communicates(partitions[p]))
      found[p] = Finder(context, names, of_layers, partitions[p]).find();
  return found;
}

}  // namespace headway::analyzer
