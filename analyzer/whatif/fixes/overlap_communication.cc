// SPDX-License-Identifier: MIT
// Gradients are exchanged during the backward pass. Each collective starts when its gradients
// are ready, one after the other on the link. The part that remains when the backward pass ends
// stays exposed.
#include <fmt/format.h>

#include <cmath>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <vector>

#include "analyzer/evidence/early_exchanges.h"
#include "analyzer/evidence/layer_exchanges.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/overlap_slowdown.h"
#include "analyzer/whatif/transfers.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// If more than this share of the messages begin before the last gradient (as in rule
/// comm-not-overlapped), the exchange does not wait for the end of the backward pass.
constexpr double kOverlapped = 0.1;

/// Bytes of parameter gradients, by process and backward op. An op computes such gradients if no
/// other op of the pass reads its results. (Recordings truncate the inputs of updates, so these
/// cannot be used.)
using GradientBytes = std::map<std::pair<std::uint32_t, std::int64_t>, std::int64_t>;

GradientBytes gradient_bytes(const Trace& trace) {
  GradientBytes gradients;
  for (const GraphOp& op : trace.graph_ops)
    if (op.phase == Phase::kBackward) gradients[{op.process.value, op.op}] = op.output_bytes;
  for (const GraphOp& op : trace.graph_ops) {
    if (op.phase == Phase::kUpdate) continue;
    for (std::int64_t input : op.inputs) gradients.erase({op.process.value, input});
  }
  return gradients;
}

/// When the gradients of one step become ready: the share that is ready at each time.
class Arrival {
 public:
  void add(TimeNs time, double weight) { parts_.push_back({time, weight}); }
  /// Without parts, gradients become ready evenly over the interval.
  explicit Arrival(Interval over) : over_(over) {}
  void finish() {
    std::ranges::sort(parts_, {}, &Part::time);
    for (const Part& part : parts_) whole_ += part.weight;
  }
  TimeNs when(double share) const {
    if (whole_ <= 0) {
      const double length = static_cast<double>(over_.length().ns);
      return over_.begin + DurationNs{static_cast<std::int64_t>(share * length)};
    }
    double sum = 0;
    for (const Part& part : parts_) {
      sum += part.weight;
      if (sum >= share * whole_ * (1 - 1e-9)) return part.time;
    }
    return over_.end;
  }

 private:
  struct Part {
    TimeNs time;
    double weight;
  };
  Interval over_;
  std::vector<Part> parts_;
  double whole_ = 0;
};

/// The ops of a step on its device, or of one backward pass and its exchange.
struct StepWork {
  std::vector<DeviceOpId> communication;
  std::vector<DeviceOpId> backward;
  Interval compute;  ///< from the first to the last compute op, without the update
};

StepWork work_of(const Predictor& predictor, DeviceId device, Interval step) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  const Attribution& attribution = predictor.analysis().attribution;
  StepWork work{{}, {}, {step.end, step.begin}};
  auto i =
      static_cast<std::size_t>(std::ranges::lower_bound(ops.start, step.begin) - ops.start.begin());
  for (; i < ops.size() && ops.start[i] < step.end; ++i) {
    if (trace.streams[ops.stream[i].value].device != device) continue;
    const DeviceOpId op = DeviceOpId::from(i);
    const TimeClass its = attribution.class_of[i];
    if (its == TimeClass::kCommTransfer) work.communication.push_back(op);
    if (its != TimeClass::kComputeTensor && its != TimeClass::kComputeOther) continue;
    work.compute = {std::min(work.compute.begin, ops.start[i]),
                    std::max(work.compute.end, ops.end[i])};
    if (attribution.phase_of[i] == Phase::kBackward) work.backward.push_back(op);
  }
  return work;
}

/// The work of each backward pass and its exchange, where a step has `passes` of them: the n-th part
/// of what each op of the model runs, and of the messages. {work} if it does not come in such parts.
std::vector<StepWork> work_of_passes(const DeviceOps& ops, const Attribution& attribution,
                                     StepWork work, std::size_t passes) {
  std::map<OpId, std::vector<DeviceOpId>> of_op;
  for (DeviceOpId op : work.backward) of_op[attribution.op_of[op.value]].push_back(op);
  const bool in_parts =
      passes > 1 && work.communication.size() % passes == 0 &&
      std::ranges::all_of(of_op, [&](const auto& one) { return one.second.size() % passes == 0; });
  if (!in_parts) return {std::move(work)};
  const auto part = [&](const std::vector<DeviceOpId>& all, std::size_t i) {
    const std::size_t each = all.size() / passes;
    return std::span(all).subspan(i * each, each);
  };
  std::vector<StepWork> result(passes);
  for (std::size_t i = 0; i < passes; ++i) {
    StepWork& its = result[i];
    its.compute = work.compute;
    const auto messages = part(work.communication, i);
    its.communication.assign(messages.begin(), messages.end());
    for (const auto& [id, all] : of_op)
      for (DeviceOpId op : part(all, i)) its.backward.push_back(op);
    std::ranges::sort(its.backward);
    // What runs after the exchange uses its sums: gradients are added up.
    const TimeNs exchanged = ops.end[its.communication.back().value];
    std::erase_if(its.backward, [&](DeviceOpId op) { return ops.start[op.value] >= exchanged; });
  }
  return result;
}

Arrival arrival_of(const Predictor& predictor, const StepWork& work,
                   const GradientBytes& gradients) {
  const DeviceOps& ops = predictor.trace().device_ops;
  const Attribution& attribution = predictor.analysis().attribution;
  Interval over = work.compute;
  if (!work.backward.empty()) {
    over = {over.end, over.begin};
    for (DeviceOpId op : work.backward)
      over = {std::min(over.begin, ops.start[op.value]), std::max(over.end, ops.end[op.value])};
  }
  Arrival arrival(over);
  // A gradient is ready when the last micro batch has been added.
  std::map<GradientBytes::key_type, TimeNs> last;
  for (DeviceOpId op : work.backward) {
    const ModelOp& its = attribution.ops[attribution.op_of[op.value].value];
    if (!its.graph_op.valid()) continue;
    const GraphOp& graph = predictor.trace().graph_ops[its.graph_op.value];
    const GradientBytes::key_type gradient(graph.process.value, graph.op);
    if (gradients.contains(gradient)) last[gradient] = ops.end[op.value];
  }
  for (const auto& [gradient, time] : last)
    arrival.add(time, static_cast<double>(gradients.at(gradient)));
  arrival.finish();
  return arrival;
}

/// By device op: its stage, if several collectives in turn make one sum.
using Stages = std::vector<std::uint8_t>;

Stages stages_of(const Predictor& predictor) {
  Stages stage(predictor.trace().device_ops.size());
  const std::vector<std::vector<Transfer>> stages = stages_of_exchange(predictor);
  for (std::size_t s = 1; s < stages.size(); ++s)
    for (const Transfer& one : stages[s]) stage[one.op.value] = static_cast<std::uint8_t>(s);
  return stage;
}

/// Times at which calls that wait for the whole device (cudaFree) return, by process. No work runs
/// across them.
using DeviceWaits = std::map<ProcessId, std::vector<TimeNs>>;

DeviceWaits device_waits(const Trace& trace) {
  DeviceWaits waits;
  for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
    const DeviceCallKind kind = trace.calls.kind[c];
    if (kind == DeviceCallKind::kFree || kind == DeviceCallKind::kDeviceSynchronize)
      waits[trace.threads[trace.calls.thread[c].value].process].push_back(trace.calls.end[c]);
  }
  for (auto& [process, ends] : waits) std::ranges::sort(ends);
  return waits;
}

/// The part of a step's communication that remains when its backward pass ends. All stages of a
/// bucket wait for its last gradient.
DurationNs left_over(const DeviceOps& ops, const StepWork& work, const Stages& stages,
                     const Arrival& arrival, std::span<const TimeNs> device_waits) {
  std::map<std::uint8_t, std::size_t> next;
  std::vector<std::size_t> bucket;
  std::vector<double> until;  // by bucket: ns of messages up to its end
  for (DeviceOpId op : work.communication) {
    bucket.push_back(next[stages[op.value]]++);
    if (until.size() <= bucket.back()) until.resize(bucket.back() + 1);
    until[bucket.back()] += static_cast<double>(ops.interval(op).length().ns);
  }
  std::partial_sum(until.begin(), until.end(), until.begin());
  const double whole = until.empty() ? 0 : until.back();
  TimeNs link_free = TimeNs::min();
  DurationNs later;  // delay of the backward pass
  for (std::size_t i = 0; i < bucket.size(); ++i) {
    const double share = whole > 0 ? until[bucket[i]] / whole : 1;
    const TimeNs start = std::max(link_free, arrival.when(share) + later);
    link_free = start + ops.interval(work.communication[i]).length();
    const auto wait = std::ranges::upper_bound(device_waits, start - later);
    if (wait != device_waits.end() && *wait < arrival.when(1))
      later = std::max(later, link_free - *wait);
  }
  return std::max(later, link_free - arrival.when(1));
}

/// Number of a step's communication ops that begin during the backward pass.
std::size_t begun_beside(const DeviceOps& ops, const StepWork& work) {
  TimeNs last = TimeNs::min();
  for (DeviceOpId op : work.backward) last = std::max(last, ops.end[op.value]);
  return static_cast<std::size_t>(std::ranges::count_if(
      work.communication, [&](DeviceOpId op) { return ops.start[op.value] < last; }));
}

/// Lengthens backward kernels that the rest of the communication now overlaps.
void slow_down(const DeviceOps& ops, const StepWork& work, DurationNs left,
               const OverlapSlowdown& slowdown, const Points& points, Editor& editor) {
  if (slowdown.log_per_overlap <= 0) return;
  DurationNs backward;
  DurationNs hidden = DurationNs{0} - left;
  for (DeviceOpId op : work.backward) backward += ops.interval(op).length();
  for (DeviceOpId op : work.communication) hidden += ops.interval(op).length();
  const double stretch = slowdown.stretch(std::clamp(ratio(hidden, backward), 0.0, 1.0));
  for (DeviceOpId op : work.backward) {
    const double own = static_cast<double>(ops.interval(op).length().ns);
    editor.set_duration(points.task(op), {std::llround(own * stretch)}, true);
  }
}

/// Exchanges that carry data for the model's next op, not gradients.
std::set<DeviceOpId> exchanges_of_model(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  std::set<DeviceOpId> ops = find_layer_exchanges(rule_context(predictor)).ops(trace);
  for (const Collective& one : trace.collectives)
    if (one.op.valid() && trace.strings[one.kind] == "alltoall") ops.insert(one.op);
  return ops;
}

Proposal propose(const Predictor& predictor) {
  const DeviceOps& ops = predictor.trace().device_ops;
  const GradientBytes gradients = gradient_bytes(predictor.trace());
  const Stages stages = stages_of(predictor);
  DeviceWaits waits = device_waits(predictor.trace());
  Editor editor(predictor);
  DurationNs exposed;
  std::int64_t steps = 0;
  std::size_t messages = 0;
  std::size_t beside = 0;
  OverlapSlowdown known;
  const std::set<DeviceOpId> of_model = exchanges_of_model(predictor);
  const std::vector<DevicePartition>& partitions = predictor.analysis().partitions;
  const std::vector<EarlyExchanges> early =
      find_early_exchanges(rule_context(predictor), partitions);
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    const DevicePartition& partition = partitions[p];
    if (!partition.device.valid()) continue;
    const OverlapSlowdown slowdown = fit_overlap_slowdown(predictor, partition.device);
    if (slowdown.kernels > known.kernels) known = slowdown;
    for (const DeviceStep& step : partition.steps) {
      StepWork all = work_of(predictor, partition.device, step.interval);
      std::erase_if(all.communication, [&](DeviceOpId op) { return of_model.contains(op); });
      if (all.communication.empty()) continue;
      ++steps;
      for (const StepWork& work :
           work_of_passes(ops, predictor.analysis().attribution, std::move(all),
                          static_cast<std::size_t>(early[p].passes))) {
        const StreamId stream = ops.stream[work.communication.front().value];
        DurationNs left = left_over(ops, work, stages, arrival_of(predictor, work, gradients),
                                    waits[predictor.trace().streams[stream.value].process]);
        exposed += left;
        messages += work.communication.size();
        beside += begun_beside(ops, work);
        slow_down(ops, work, left, slowdown, predictor.program().graph().points(), editor);
        for (std::size_t i = work.communication.size(); i-- > 0;) {
          const DeviceOpId op = work.communication[i];
          const DurationNs its = std::min(left, ops.interval(op).length());
          editor.set_op(op, its, true);
          left -= its;
        }
      }
    }
  }
  if (editor.empty()) return not_here("no communication on the device");
  if (static_cast<double>(beside) > kOverlapped * static_cast<double>(messages))
    return not_here(
        fmt::format("{} of the communication already begins during the backward pass",
                    format_percent(static_cast<double>(beside) / static_cast<double>(messages))));
  const DurationNs link = per_step(predictor, [&](DeviceOpId op) {
    return predictor.analysis().attribution.class_of[op.value] == TimeClass::kCommTransfer
               ? ops.interval(op).length()
               : DurationNs{};
  });
  const std::string slower =
      known.kernels > 0
          ? fmt::format("; a kernel beside it takes {} longer, based on {} recorded kernels",
                        format_percent(known.stretch(1) - 1), known.kernels)
          : std::string();
  Proposal proposal{
      true,
      fmt::format("{} of communication per step overlap the backward pass, except for {}{}",
                  format_duration(link),
                  format_duration(exposed / std::max<std::int64_t>(1, steps)), slower),
      editor.take()};
  proposal.scenario.at_least = link;
  return proposal;
}

}  // namespace

const Fix kOverlapCommunication{
    "overlap-communication",
    "Overlap communication with the backward pass",
    "comm-exposed, comm-not-overlapped",
    FixKind::kModelled,
    0.1,
    "--overlap on",
    "Each collective starts once its gradients are ready and the link is free. The op graph gives "
    "the order; without one, gradients spread evenly over the backward pass. The remainder after "
    "the backward pass is exposed.",
    "the slowdown of overlapped kernels, unless the recording shows some",
    propose};

}  // namespace headway::analyzer
