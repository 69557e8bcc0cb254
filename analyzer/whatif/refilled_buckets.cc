// SPDX-License-Identifier: MIT
#include "analyzer/whatif/refilled_buckets.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "analyzer/evidence/early_exchanges.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/kernel_rates.h"
#include "analyzer/whatif/overlap_slowdown.h"
#include "analyzer/whatif/step_exchange.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr double kMiB = 1 << 20;
/// A bucket takes the rest of a message along if that is less than this share of its size.
constexpr double kNotMuchMore = 0.2;

/// A part of a message: when its last gradient is ready, and its share of the message.
struct Piece {
  TimeNs ready;
  double share;
};

/// What goes in one bucket: shares of messages, by their index.
struct Bucket {
  struct Part {
    std::size_t message;
    double share;
  };
  std::vector<Part> parts;
  double bytes = 0;  ///< of gradients
  TimeNs ready;      ///< of the last one

  void add(std::size_t message, const Piece& piece, double of_bytes) {
    if (parts.empty() || parts.back().message != message) parts.push_back({message, 0});
    parts.back().share += piece.share;
    bytes += piece.share * of_bytes;
    ready = piece.ready;
  }
  void add(const Bucket& other) {
    for (const Part& part : other.parts) add(part.message, {other.ready, part.share}, 0);
    bytes += other.bytes;
  }
};

/// Ops of the backward pass whose results no other op of it reads: they compute gradients of
/// parameters.
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

class Refill {
 public:
  Refill(const Predictor& predictor, const std::vector<TransferModel>& models,
         const BucketSizes& sizes, UnknownGradients unknown, Beyond beyond)
      : predictor_(predictor),
        trace_(predictor.trace()),
        program_(predictor.program()),
        points_(predictor.program().graph().points()),
        models_(models),
        sizes_(sizes),
        unknown_(unknown),
        beyond_(beyond),
        least_(shortest_kernel(trace_.device_ops)),
        gradients_(gradients_of_parameters(trace_)),
        editor_(predictor) {}

  /// The exchange on one stream in a step.
  void refill(const StepStages& stages, Interval step, std::size_t passes) {
    stages_ = &stages;
    const std::size_t count = stages.front().size();
    if (count % passes != 0) passes = 1;
    const StreamId stream = trace_.device_ops.stream[stages.front().front().op.value];
    beside_ = companions(predictor_, stream, step, count);
    result_.bytes.clear();
    result_.recorded += std::ssize(stages.front());
    ++result_.steps;
    TimeNs before = backward_begins(stream, step);
    std::vector<std::size_t> dropped;
    std::vector<Bucket> earlier;
    Bucket filling;
    bool is_first = true;
    bool uncut = false;
    std::optional<Wait> wait;
    for (std::size_t i = 0; i < count; ++i) {
      const Transfer& message = stages.front()[i];
      if (const auto own = wait_for_gradients(first_of(i)))
        wait = {*own, i};
      else if (dropped.empty())
        wait.reset();  // the message before it, which keeps its place, waits for both
      const TimeNs ready = wait ? program_.recorded(wait->gradients.from)
                                : trace_.device_ops.start[message.op.value];
      const double whole = gradient_bytes(trace_, message);
      const bool ends_pass = (i + 1) % (count / passes) == 0;
      const auto size = [&] { return kMiB * (is_first ? sizes_.first : sizes_.others); };
      const double room = size() - filling.bytes;
      std::vector<Piece> pieces;
      if (wait && whole > room + kNotMuchMore * size())
        pieces = pieces_of(message, whole, size(), stream, {std::min(before, ready), ready});
      if (pieces.empty()) {
        // A few of many messages may be off by a part of one; a small first bucket may not.
        const bool is_small = is_first && sizes_.first < sizes_.others;
        uncut |= whole > (is_small ? room : size()) + kNotMuchMore * size();
        pieces = {{ready, 1}};
      }
      before = ready;
      double rest = whole;
      for (std::size_t p = 0; p < pieces.size(); ++p) {
        filling.add(i, pieces[p], whole);
        rest -= pieces[p].share * whole;
        const bool ends_message = p + 1 == pieces.size();
        const bool full = filling.bytes >= size();
        const bool ends_bucket =
            ends_message ? full || ends_pass : full && rest >= kNotMuchMore * size();
        if (!ends_bucket) {
          if (ends_message) dropped.push_back(i);
          continue;
        }
        if (ends_message)
          send_with(i, wait, std::exchange(dropped, {}), std::exchange(earlier, {}), filling);
        else
          earlier.push_back(filling);
        filling = {};
        is_first = ends_message && ends_pass;
      }
    }
    result_.uncut += uncut;
  }

  /// Kernels that overlap communication get shorter, by the share of it that is gone.
  void relieve(DeviceId device) {
    if (changed_ && before_.ns > 0)
      slow_down_less(predictor_, device, std::clamp(1 - ratio(after_, before_), 0.0, 1.0), editor_);
    before_ = after_ = {};
    changed_ = false;
  }

  RefilledBuckets take() {
    result_.scenario = editor_.take();
    return std::move(result_);
  }

 private:
  /// For the gradients of a message. A message that follows at once has none of its own.
  struct Wait {
    Constraint gradients;
    std::size_t message;
  };

  /// Begin of the backward pass on the other streams of the stream's device.
  TimeNs backward_begins(StreamId exchange, Interval step) const {
    TimeNs begins = step.end;
    for_each_beside(exchange, step, [&](DeviceOpId op) {
      if (predictor_.analysis().attribution.phase_of[op.value] == Phase::kBackward)
        begins = std::min(begins, trace_.device_ops.start[op.value]);
    });
    return begins;
  }

  /// Visits the kernels on other streams of its device that end in the window.
  template <class Visit>
  void for_each_beside(StreamId exchange, Interval window, Visit visit) const {
    const DeviceOps& ops = trace_.device_ops;
    for (std::size_t s = 0; s < trace_.streams.size(); ++s) {
      if (s == exchange.value || trace_.streams[s].device != trace_.streams[exchange.value].device)
        continue;
      const auto all = trace_.ops_of_stream[StreamId::from(s)];
      auto op = std::ranges::lower_bound(all, window.begin, {},
                                         [&](DeviceOpId one) { return ops.start[one.value]; });
      for (; op != all.end() && ops.start[op->value] < window.end; ++op)
        if (ops.kind[op->value] == DeviceOpKind::kKernel && ops.end[op->value] <= window.end)
          visit(*op);
    }
  }

  /// The first kernel that packs the message; the message itself if there is none.
  DeviceOpId first_of(std::size_t i) const {
    const DeviceOps& ops = trace_.device_ops;
    DeviceOpId first = stages_->front()[i].op;
    for (const std::vector<DeviceOpId>& its : beside_)
      if (ops.start[its[i].value] < ops.start[first.value]) first = its[i];
    return first;
  }

  std::optional<Constraint> wait_for_gradients(DeviceOpId first) const {
    std::optional<Constraint> last;
    program_.for_each(program_.slot_of(start_of(points_.task(first))), [&](const Constraint& to) {
      if (to.kind == EdgeKind::kEventWait &&
          (!last || program_.recorded(to.from) > program_.recorded(last->from)))
        last = to;
    });
    return last;
  }

  /// The gradients in a message in the order in which they are computed; none if they are not known.
  std::vector<Piece> pieces_of(const Transfer& message, double whole, double size,
                               StreamId exchange, Interval window) {
    if (waits_for_device(message.op, window)) return {};
    std::vector<Piece> pieces = gradients_in(exchange, window);
    double all = sum(pieces);
    // Gradients in 16 bits may have half of the sent bytes.
    if (all < 0.4 * whole || all > 1.6 * whole) {
      if (unknown_ == UnknownGradients::kStayTogether || whole < (1 + kNotMuchMore) * size)
        return {};
      pieces = kernels_in(exchange, window);
      all = sum(pieces);
      result_.evenly = true;
    }
    if (all <= 0) return {};
    for (Piece& one : pieces) one.share /= all;
    std::ranges::sort(pieces, {}, &Piece::ready);
    return pieces;
  }

  /// True if the sending thread waits for the whole device meanwhile, as allocations without a pool
  /// do. It would then wait for each part.
  bool waits_for_device(DeviceOpId message, Interval window) const {
    const CallId launch = trace_.device_ops.call[message.value];
    if (!launch.valid()) return false;
    const auto calls = trace_.calls_of_thread[trace_.calls.thread[launch.value]];
    auto call = std::ranges::lower_bound(calls, window.begin, {},
                                         [&](CallId one) { return trace_.calls.start[one.value]; });
    bool waits = false;
    for (; !waits && call != calls.end() && trace_.calls.start[call->value] < window.end; ++call) {
      const DeviceCallKind kind = trace_.calls.kind[call->value];
      if (kind != DeviceCallKind::kFree && kind != DeviceCallKind::kDeviceSynchronize) continue;
      program_.for_each(program_.slot_of(end_of(points_.task(*call))),
                        [&](const Constraint& to) { waits |= to.kind == EdgeKind::kHostSync; });
    }
    return waits;
  }

  static double sum(const std::vector<Piece>& pieces) {
    double all = 0;
    for (const Piece& one : pieces) all += one.share;
    return all;
  }

  /// The gradients with their bytes, if the op graph shows them.
  std::vector<Piece> gradients_in(StreamId exchange, Interval window) const {
    const Attribution& attribution = predictor_.analysis().attribution;
    std::vector<Piece> found;
    for_each_beside(exchange, window, [&](DeviceOpId op) {
      const GraphOpId node = attribution.ops[attribution.op_of[op.value].value].graph_op;
      if (node.valid() && gradients_.contains(node))
        found.push_back({trace_.device_ops.end[op.value],
                         static_cast<double>(trace_.graph_ops[node.value].output_bytes)});
    });
    return found;
  }

  /// The kernels with their times, as if gradients became ready in proportion to kernel time.
  std::vector<Piece> kernels_in(StreamId exchange, Interval window) const {
    const DeviceOps& ops = trace_.device_ops;
    std::vector<Piece> found;
    for_each_beside(exchange, window, [&](DeviceOpId op) {
      found.push_back({ops.end[op.value], static_cast<double>(ops.interval(op).length().ns)});
    });
    return found;
  }

  /// Sends `bucket` in place of message `i`, and the `earlier` ones before it; the messages `dropped`
  /// go. `wait`: for the message's gradients.
  void send_with(std::size_t i, const std::optional<Wait>& wait,
                 const std::vector<std::size_t>& dropped, std::vector<Bucket> earlier,
                 Bucket bucket) {
    if (!wait) {  // it is not known when the earlier ones could begin
      Bucket all;
      for (const Bucket& one : earlier) all.add(one);
      all.add(bucket);
      bucket = std::move(all);
      earlier.clear();
    }
    for (const Bucket& one : earlier) result_.bytes.push_back(one.bytes);
    result_.bytes.push_back(bucket.bytes);
    result_.messages += std::ssize(earlier) + 1;
    const bool as_recorded = dropped.empty() && earlier.empty();
    for (const std::vector<Transfer>& stage : *stages_) {
      for (const std::size_t d : dropped) before_ += DurationNs{std::llround(stage[d].ns)};
      before_ += DurationNs{std::llround(stage[i].ns)};
      if (as_recorded) after_ += DurationNs{std::llround(stage[i].ns)};
    }
    if (as_recorded) return;
    changed_ = true;
    const bool waits = !waits_before(trace_, stages_->front()[i].op).empty();
    for (const std::size_t d : dropped) {
      drop(d, waits);
      // Buckets that begin earlier must not wait for these gradients.
      if (!earlier.empty() && wait->message != d)
        editor_.remove_edges(start_of(points_.task(first_of(d))), EdgeKind::kEventWait);
    }
    if (!earlier.empty()) send_before(*wait, earlier);
    const int times = static_cast<int>(earlier.size()) + 1;
    for (std::size_t s = 0; s < stages_->size(); ++s) {
      const Transfer& message = (*stages_)[s][i];
      const double ns = transfer_ns(s, bucket);
      after_ += DurationNs{std::llround(ns)};
      editor_.set_transfer(message.op, {std::llround(message.wait + ns)}, true);
      repeat_launch(message.op, times);
    }
    for (const std::vector<DeviceOpId>& its : beside_) {
      editor_.set_duration(points_.task(its[i]), kernel_time(its, bucket), true);
      repeat_launch(its[i], times);
    }
    if (times > 1)
      for (CallId call : waits_before(trace_, stages_->front()[i].op))
        editor_.repeat_call(call, times);
  }

  void drop(std::size_t d, bool with_its_waits) {
    if (with_its_waits)
      for (CallId call : waits_before(trace_, stages_->front()[d].op)) editor_.drop_call(call);
    for (const std::vector<Transfer>& stage : *stages_) editor_.drop_collective(stage[d].op);
    for (const std::vector<DeviceOpId>& its : beside_) editor_.drop_op(its[d]);
  }

  /// The buckets go one after the other, each when it is ready, before what waits there.
  void send_before(const Wait& wait, const std::vector<Bucket>& earlier) {
    DurationNs busy;
    TimeNs done = earlier.front().ready;
    for (const Bucket& one : earlier) {
      DurationNs takes;
      for (std::size_t s = 0; s < stages_->size(); ++s)
        takes += DurationNs{std::llround(transfer_ns(s, one))};
      after_ += takes;
      for (const std::vector<DeviceOpId>& its : beside_) takes += kernel_time(its, one);
      busy += takes;
      done = std::max(done, one.ready) + takes;
    }
    const Constraint& gradients = wait.gradients;
    editor_.set_lag(
        gradients.id,
        gradients.lag + std::max(DurationNs{}, done - program_.recorded(gradients.from)));
    const PointId first = start_of(points_.task(first_of(wait.message)));
    program_.for_each(program_.slot_of(first), [&](const Constraint& to) {
      if (to.kind == EdgeKind::kStreamOrder) editor_.set_lag(to.id, to.lag + busy);
    });
  }

  double transfer_ns(std::size_t stage, const Bucket& bucket) {
    const TransferModel& model = models_[stage];
    double bytes = 0;
    for (const Bucket::Part& part : bucket.parts)
      bytes += part.share * (*stages_)[stage][part.message].bytes;
    const bool beyond = model.may_go_faster_beyond() && bytes > model.largest;
    result_.goes_beyond |= beyond;
    return beyond && beyond_ == Beyond::kHalf ? faster_beyond(model.line, bytes, model.largest)
                                              : model.line.of(bytes);
  }

  /// A bucket's kernel of those that pack or unpack one message each. Its time beyond the shortest
  /// kernel's is the sum of theirs, or the time of their bytes at the memory's rate if that is known and
  /// less (small kernels leave most of a device idle).
  DurationNs kernel_time(const std::vector<DeviceOpId>& its, const Bucket& bucket) const {
    const DeviceOps& ops = trace_.device_ops;
    double data = 0;
    double bytes = 0;
    bool known = true;
    for (const Bucket::Part& part : bucket.parts) {
      const DeviceOpId op = its[part.message];
      data += part.share * static_cast<double>((ops.interval(op).length() - least_).ns);
      bytes += part.share * static_cast<double>(ops.bytes[op.value]);
      known &= ops.bytes[op.value] > 0;
    }
    const StreamId stream = ops.stream[its.front().value];
    const double rate = memory_bytes_per_ns(predictor_, trace_.streams[stream.value].device);
    if (known && rate > 0) data = std::min(data, bytes / rate);
    return least_ + DurationNs{std::llround(data)};
  }

  void repeat_launch(DeviceOpId op, int times) {
    const CallId call = trace_.device_ops.call[op.value];
    if (call.valid() && times > 1) editor_.repeat_call(call, times);
  }

  const Predictor& predictor_;
  const Trace& trace_;
  const Program& program_;
  const Points& points_;
  const std::vector<TransferModel>& models_;
  const BucketSizes sizes_;
  const UnknownGradients unknown_;
  const Beyond beyond_;
  const DurationNs least_;
  const std::set<GraphOpId> gradients_;
  const StepStages* stages_ = nullptr;
  std::vector<std::vector<DeviceOpId>> beside_;
  Editor editor_;
  RefilledBuckets result_;
  bool changed_ = false;
  DurationNs before_;  ///< transfers of a device
  DurationNs after_;
};

}  // namespace

double gradient_bytes(const Trace& trace, const Transfer& message) {
  if (message.gradients > 0) return message.gradients;
  return (trace.setting("compress") == "fp16" ? 2 : 1) * message.bytes;
}

RefilledBuckets refill_buckets(const Predictor& predictor,
                               const std::vector<std::vector<Transfer>>& all,
                               const std::vector<TransferModel>& models, const BucketSizes& sizes,
                               UnknownGradients unknown, Beyond beyond) {
  Refill refill(predictor, models, sizes, unknown, beyond);
  const std::vector<DevicePartition>& partitions = predictor.analysis().partitions;
  const std::vector<EarlyExchanges> early =
      find_early_exchanges(rule_context(predictor), partitions);
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    if (!partitions[p].device.valid()) continue;
    const std::size_t passes =
        early[p].sums.empty() ? 1 : static_cast<std::size_t>(early[p].passes);
    for_each_step_exchange(
        predictor, partitions[p], all,
        [&](const StepStages& stages, Interval step) { refill.refill(stages, step, passes); });
    refill.relieve(partitions[p].device);
  }
  return refill.take();
}

}  // namespace headway::analyzer
