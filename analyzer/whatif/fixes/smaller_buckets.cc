// SPDX-License-Identifier: MIT
// Gradients are sent in more and smaller messages: the first is sent while other gradients are
// still computed, and less remains to send when the last one is ready.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/step_exchange.h"
#include "analyzer/whatif/transfers.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr double kMiB = 1 << 20;
/// Bucket sizes in MiB, tried in this order as long as they gain.
constexpr std::array<int, 4> kSizes = {50, 25, 10, 5};

/// A message of less than this multiple of the size is not split.
constexpr double kNotMuchMore = 1.2;

/// A part of a bucket: when its last gradient is ready, and its share of the bucket's bytes.
struct Part {
  TimeNs ready;
  double share;
};

/// Ops of the backward pass whose results no other op of it reads: they compute gradients of parameters.
std::set<GraphOpId> gradients_of_parameters(const Trace& trace) {
  std::set<std::pair<ProcessId, std::int64_t>> read;
  for (const GraphOp& reader : trace.graph_ops)
    if (reader.phase == Phase::kBackward)
      for (const std::int64_t input : reader.inputs) read.insert({reader.process, input});
  std::set<GraphOpId> gradients;
  for (std::size_t i = 0; i < trace.graph_ops.size(); ++i) {
    const GraphOp& one = trace.graph_ops[i];
    if (one.phase == Phase::kBackward && !read.contains({one.process, one.op}))
      gradients.insert(GraphOpId::from(i));
  }
  return gradients;
}

class Splitter {
 public:
  Splitter(const Predictor& predictor, const std::vector<TransferModel>& models, int mib)
      : predictor_(predictor),
        points_(predictor.program().graph().points()),
        models_(models),
        size_(mib * kMiB),
        gradients_(gradients_of_parameters(predictor.trace())),
        editor_(predictor) {}

  /// Splits the transfers of a step on one stream. `stages`: lists of equal length.
  void split(const std::vector<std::vector<Transfer>>& stages, Interval step) {
    const StreamId stream = predictor_.trace().device_ops.stream[stages.front().front().op.value];
    const auto beside = companions(predictor_, stream, step, stages.front().size());
    TimeNs before = backward_begins(stream, step);
    for (std::size_t i = 0; i < stages.front().size(); ++i) {
      const DeviceOpId first = first_of(stages.front()[i].op, beside, i);
      const std::optional<ConstraintId> gradients = wait_for_gradients(first);
      ++messages_;
      if (!gradients) continue;
      const Constraint wait = predictor_.program().constraint(*gradients);
      const TimeNs ready = predictor_.program().recorded(wait.from);
      const std::vector<Part> parts =
          parts_of(stages.front()[i], stream, {std::min(before, ready), ready});
      before = ready;
      if (parts.size() < 2) continue;
      messages_ += std::ssize(parts) - 1;
      split(stages, i, beside, first, wait, parts);
    }
  }

  bool empty() const { return editor_.empty(); }
  std::int64_t messages() const { return messages_; }
  /// True if it is not known when each gradient is ready.
  bool evenly() const { return evenly_; }
  Scenario take() { return editor_.take(); }

 private:
  /// Begin of the backward pass on the other streams of the stream's device.
  TimeNs backward_begins(StreamId exchange, Interval step) const {
    TimeNs begins = step.end;
    for_each_beside(exchange, step, [&](DeviceOpId op) {
      if (predictor_.analysis().attribution.phase_of[op.value] == Phase::kBackward)
        begins = std::min(begins, predictor_.trace().device_ops.start[op.value]);
    });
    return begins;
  }

  /// Visits the ops on other streams of its device that end in the window.
  template <class Visit>
  void for_each_beside(StreamId exchange, Interval window, Visit visit) const {
    const Trace& trace = predictor_.trace();
    const DeviceOps& ops = trace.device_ops;
    for (std::size_t s = 0; s < trace.streams.size(); ++s) {
      if (s == exchange.value || trace.streams[s].device != trace.streams[exchange.value].device)
        continue;
      const auto all = trace.ops_of_stream[StreamId::from(s)];
      auto op = std::ranges::lower_bound(all, window.begin, {},
                                         [&](DeviceOpId one) { return ops.start[one.value]; });
      for (; op != all.end() && ops.start[op->value] < window.end; ++op)
        if (ops.kind[op->value] == DeviceOpKind::kKernel && ops.end[op->value] <= window.end)
          visit(*op);
    }
  }

  /// The first kernel that packs the message; the message itself if there is none.
  DeviceOpId first_of(DeviceOpId message, const std::vector<std::vector<DeviceOpId>>& beside,
                      std::size_t i) const {
    DeviceOpId first = message;
    const DeviceOps& ops = predictor_.trace().device_ops;
    for (const std::vector<DeviceOpId>& its : beside)
      if (ops.start[its[i].value] < ops.start[first.value]) first = its[i];
    return first;
  }

  std::optional<ConstraintId> wait_for_gradients(DeviceOpId first) const {
    const Program& program = predictor_.program();
    std::optional<Constraint> last;
    program.for_each(program.slot_of(start_of(points_.task(first))), [&](const Constraint& to) {
      if (to.kind == EdgeKind::kEventWait &&
          (!last || program.recorded(to.from) > program.recorded(last->from)))
        last = to;
    });
    return last ? std::optional(last->id) : std::nullopt;
  }

  /// The parts into which a message would be split, in the order in which its gradients are
  /// computed.
  std::vector<Part> parts_of(const Transfer& message, StreamId exchange, Interval window) {
    const double whole = message.gradients > 0 ? message.gradients : message.bytes;
    if (whole < kNotMuchMore * size_ || waits_for_device(message.op, window)) return {};
    std::vector<Part> gradients = gradients_in(exchange, window);
    double all = sum(gradients);
    // Gradients in 16 bits may have half of the sent bytes.
    if (all < 0.4 * whole || all > 1.6 * whole) {
      evenly_ = true;
      gradients = kernels_in(exchange, window);
      all = sum(gradients);
    }
    std::ranges::sort(gradients, {}, &Part::ready);
    std::vector<Part> parts;
    double share = 0;
    for (const Part& gradient : gradients) {
      share += gradient.share / all;
      if (share * whole < size_ && &gradient != &gradients.back()) continue;
      parts.push_back({gradient.ready, share});
      share = 0;
    }
    return parts;
  }

  /// True if the sending thread waits for the whole device meanwhile, as allocations without a pool
  /// do. It would then wait for each part.
  bool waits_for_device(DeviceOpId message, Interval window) const {
    const Trace& trace = predictor_.trace();
    const Program& program = predictor_.program();
    const CallId launch = trace.device_ops.call[message.value];
    if (!launch.valid()) return false;
    const auto calls = trace.calls_of_thread[trace.calls.thread[launch.value]];
    auto call = std::ranges::lower_bound(calls, window.begin, {},
                                         [&](CallId one) { return trace.calls.start[one.value]; });
    bool waits = false;
    for (; !waits && call != calls.end() && trace.calls.start[call->value] < window.end; ++call) {
      const DeviceCallKind kind = trace.calls.kind[call->value];
      if (kind != DeviceCallKind::kFree && kind != DeviceCallKind::kDeviceSynchronize) continue;
      program.for_each(program.slot_of(end_of(points_.task(*call))),
                       [&](const Constraint& to) { waits |= to.kind == EdgeKind::kHostSync; });
    }
    return waits;
  }

  static double sum(const std::vector<Part>& gradients) {
    double all = 0;
    for (const Part& one : gradients) all += one.share;
    return all;
  }

  /// The gradients with their bytes, if the op graph shows them.
  std::vector<Part> gradients_in(StreamId exchange, Interval window) const {
    const Trace& trace = predictor_.trace();
    const Attribution& attribution = predictor_.analysis().attribution;
    std::vector<Part> found;
    for_each_beside(exchange, window, [&](DeviceOpId op) {
      const GraphOpId node = attribution.ops[attribution.op_of[op.value].value].graph_op;
      if (node.valid() && gradients_.contains(node))
        found.push_back({trace.device_ops.end[op.value],
                         static_cast<double>(trace.graph_ops[node.value].output_bytes)});
    });
    return found;
  }

  /// The kernels with their times, as if gradients became ready in proportion to kernel time.
  std::vector<Part> kernels_in(StreamId exchange, Interval window) const {
    const DeviceOps& ops = predictor_.trace().device_ops;
    std::vector<Part> found;
    for_each_beside(exchange, window, [&](DeviceOpId op) {
      found.push_back({ops.end[op.value], static_cast<double>(ops.interval(op).length().ns)});
    });
    return found;
  }

  /// The last part is what remains of the message. The parts before it are sent one after the
  /// other, each when it is ready; the last part begins after them.
  void split(const std::vector<std::vector<Transfer>>& stages, std::size_t i,
             const std::vector<std::vector<DeviceOpId>>& beside, DeviceOpId first,
             const Constraint& wait, const std::vector<Part>& parts) {
    DurationNs busy;
    TimeNs done = parts.front().ready;
    for (const Part& part : std::span(parts).first(parts.size() - 1)) {
      const DurationNs takes = time_of(stages, i, beside, part.share);
      busy += takes;
      done = std::max(done, part.ready) + takes;
    }
    const Program& program = predictor_.program();
    editor_.set_lag(wait.id, wait.lag + std::max(DurationNs{}, done - program.recorded(wait.from)));
    program.for_each(program.slot_of(start_of(points_.task(first))), [&](const Constraint& to) {
      if (to.kind == EdgeKind::kStreamOrder) editor_.set_lag(to.id, to.lag + busy);
    });
    const double rest = parts.back().share;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      const Transfer& message = stages[s][i];
      editor_.set_transfer(message.op,
                           {std::llround(message.wait + models_[s].line.of(rest * message.bytes))},
                           true);
      repeat_launch(message.op, static_cast<int>(parts.size()));
    }
    for (const std::vector<DeviceOpId>& its : beside) {
      const DurationNs whole = predictor_.trace().device_ops.interval(its[i]).length();
      editor_.set_op(its[i], {std::llround(rest * static_cast<double>(whole.ns))}, true);
      repeat_launch(its[i], static_cast<int>(parts.size()));
    }
    for (CallId call : waits_before(predictor_.trace(), stages.front()[i].op))
      editor_.repeat_call(call, static_cast<int>(parts.size()));
  }

  void repeat_launch(DeviceOpId op, int times) {
    const CallId call = predictor_.trace().device_ops.call[op.value];
    if (call.valid()) editor_.repeat_call(call, times);
  }

  DurationNs time_of(const std::vector<std::vector<Transfer>>& stages, std::size_t i,
                     const std::vector<std::vector<DeviceOpId>>& beside, double share) const {
    double ns = 0;
    for (std::size_t s = 0; s < stages.size(); ++s)
      ns += models_[s].line.of(share * stages[s][i].bytes);
    for (const std::vector<DeviceOpId>& its : beside)
      ns += share * static_cast<double>(predictor_.trace().device_ops.interval(its[i]).length().ns);
    return {std::llround(ns)};
  }

  const Predictor& predictor_;
  const Points& points_;
  const std::vector<TransferModel>& models_;
  const double size_;
  const std::set<GraphOpId> gradients_;
  Editor editor_;
  std::int64_t messages_ = 0;
  bool evenly_ = false;
};

Proposal in_parts(const Predictor& predictor, const std::vector<std::vector<Transfer>>& all,
                  const std::vector<TransferModel>& models, int mib) {
  Splitter splitter(predictor, models, mib);
  std::int64_t before = 0;
  std::int64_t steps = 0;
  for (const DevicePartition& partition : predictor.analysis().partitions) {
    if (!partition.device.valid()) continue;
    for_each_step_exchange(predictor, partition, all, [&](const StepStages& stages, Interval step) {
      splitter.split(stages, step);
      before += std::ssize(stages.front());
      ++steps;
    });
  }
  if (splitter.empty())
    return not_here(
        fmt::format("no message of gradients that could go in parts is larger than {} MiB", mib));
  Proposal proposal{
      true,
      fmt::format(
          "{} messages per step become {} of about {} MiB: {}{}", before / steps,
          (splitter.messages() + steps - 1) / steps, mib, models.front().text,
          splitter.evenly() ? "; gradients are taken to come as evenly as kernels run" : ""),
      splitter.take()};
  proposal.setting = fmt::format("--bucket-mb {}", mib);
  return proposal;
}

Proposal propose(const Predictor& predictor) {
  const std::vector<std::vector<Transfer>> all = stages_of_exchange(predictor);
  if (all.empty()) return not_here("no gradient exchange of known size was recorded");
  if (all.front().front().kind == "reduce")
    return not_here("messages from a parameter server are not split");
  std::vector<TransferModel> models;
  for (const std::vector<Transfer>& stage : all) {
    if (stage.front().ranks != 1 && !stage.front().matched)
      return not_here("the all-reduces were not matched between ranks: record all of them");
    models.push_back(model_transfers(predictor, stage));
  }
  std::optional<Proposal> best;
  int chosen = 0;
  DurationNs step;
  for (const int mib : kSizes) {
    Proposal proposal = in_parts(predictor, all, models, mib);
    if (!proposal.applies) {
      if (mib == kSizes.back() && !best) return proposal;
      continue;
    }
    const DurationNs its = predictor.predict(proposal.scenario).step;
    if (best && its >= step) break;
    best = std::move(proposal);
    step = its;
    chosen = mib;
  }
  for (const bool bytes : {true, false}) {
    if (std::ranges::all_of(models, [](const TransferModel& one) { return one.ends.empty(); }))
      break;
    std::vector<TransferModel> ends = models;
    for (TransferModel& model : ends)
      model.line = TransferLine(bytes ? model.most_bytes() : model.most_latency());
    best->otherwise.push_back(in_parts(predictor, all, ends, chosen).scenario);
  }
  return *best;
}

}  // namespace

const Fix kSmallerBuckets{
    "smaller-buckets",
    "Exchange gradients in smaller buckets",
    "comm-exposed, comm-slow-link, comm-not-overlapped",
    FixKind::kModelled,
    0.3,
    "--bucket-mb 25",
    "Large gradient messages are split into buckets of 50, 25, 10 or 5 MiB. Each starts "
    "when its last gradient is ready, and takes latency + bytes / bandwidth, fitted to "
    "the recorded messages. Gradients left after the backward pass form one bucket.",
    "whether the library switches algorithms for smaller messages",
    propose};

}  // namespace headway::analyzer
