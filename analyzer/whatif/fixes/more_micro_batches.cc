// SPDX-License-Identifier: MIT
// A pipeline uses twice as many micro batches of half the size: a stage begins with the first
// half while the previous stage still computes the second half. Lengths are for the same batch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/evidence/pipeline.h"
#include "analyzer/hardware/gpus.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr int kTimes = 2;

/// One end of a message, with the pass that its stage computes before sending or after receiving
/// it.
struct Message {
  DeviceOpId op;
  const Collective* what = nullptr;
  DurationNs pass;    ///< what all parts of that pass take: of the device, or the host if slower
  DurationNs hosted;  ///< the host's own time for all parts
  std::size_t order = 0;  ///< index among the messages of its kind between its ranks
};

/// The messages from one rank to another, in order, on the side of the sender and of the receiver.
struct Ends {
  std::vector<Message> sent;
  std::vector<Message> received;
};

/// Divides the compute of a stream into passes. A pass begins with an op that waits for a message,
/// or after an op for which a message waits.
class Passes {
 public:
  explicit Passes(const Predictor& predictor) : predictor_(predictor) {
    for (const Collective& one : trace().collectives) {
      if (!one.op.valid() || !is_point_to_point(trace().strings[one.kind])) continue;
      messages_.insert(one.op);
    }
    for (DeviceOpId message : messages_) {
      if (const DeviceOpId before = waits_for(message); before.valid()) last_.insert(before);
    }
    const DeviceOps& ops = trace().device_ops;
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      if (ops.kind[i] != DeviceOpKind::kKernel) continue;
      const DeviceOpId behind = waits_for(DeviceOpId{i});
      if (behind.valid() && messages_.contains(behind)) first_[behind] = DeviceOpId{i};
      if (behind.valid() && messages_.contains(behind)) begins_.insert(DeviceOpId{i});
    }
  }

  /// The pass of a message: for a send, the kernels up to the op that it waits for; for a receive,
  /// the kernels from the op that waits for it.
  std::vector<DeviceOpId> pass_of(DeviceOpId message, bool sent) const {
    const auto first = first_.find(message);
    const DeviceOpId at =
        sent ? waits_for(message) : (first == first_.end() ? DeviceOpId::none() : first->second);
    std::vector<DeviceOpId> pass;
    if (!at.valid()) return pass;
    const auto row = trace().ops_of_stream[trace().device_ops.stream[at.value]];
    auto op = std::ranges::lower_bound(row, at, {}, [](DeviceOpId one) { return one; });
    if (sent) {
      for (;; --op) {
        pass.push_back(*op);
        if (begins_.contains(*op) || op == row.begin() || last_.contains(*(op - 1)) ||
            updates(*(op - 1)))
          break;
      }
      std::ranges::reverse(pass);
    } else {
      for (; op != row.end(); ++op) {
        if ((!pass.empty() && begins_.contains(*op)) || updates(*op)) break;
        pass.push_back(*op);
        if (last_.contains(*op)) break;
      }
    }
    return pass;
  }

  bool is_message(DeviceOpId op) const { return messages_.contains(op); }

 private:
  const Trace& trace() const { return predictor_.trace(); }

  /// Updates end a step: no pass goes beyond.
  bool updates(DeviceOpId op) const {
    return predictor_.analysis().attribution.phase_of[op.value] == Phase::kUpdate;
  }

  /// The latest op of another stream for which this op waits by an event.
  DeviceOpId waits_for(DeviceOpId op) const {
    const Program& program = predictor_.program();
    const Points& points = program.graph().points();
    DeviceOpId result;
    program.for_each(program.slot_of(start_of(points.task(op))), [&](const Constraint& constraint) {
      if (constraint.kind != EdgeKind::kEventWait) return;
      const PointId from = program.point_of(constraint.from);
      const DeviceOpId its = from.valid() ? points.op_of(task_of(from)) : DeviceOpId::none();
      if (!its.valid()) return;
      if (!result.valid() ||
          trace().device_ops.end[result.value] < trace().device_ops.end[its.value])
        result = its;
    });
    return result;
  }

  const Predictor& predictor_;
  std::set<DeviceOpId> messages_;
  std::set<DeviceOpId> last_;               ///< last ops of passes whose result is sent
  std::set<DeviceOpId> begins_;             ///< first ops of passes that waited for a message
  std::map<DeviceOpId, DeviceOpId> first_;  ///< by message: the op that waited for it
};

/// Share of the multiprocessors that a grid fills: with fewer blocks, the last wave is emptier.
double fill(std::int64_t blocks, std::int32_t multiprocessors) {
  if (blocks <= 0 || multiprocessors <= 0) return 1;
  const double waves = static_cast<double>(blocks) / multiprocessors;
  return waves / std::ceil(waves);
}

class MoreParts {
 public:
  MoreParts(const Predictor& predictor, BytesTake take)
      : predictor_(predictor),
        take_(take),
        ops_(predictor.trace().device_ops),
        points_(predictor.program().graph().points()),
        least_(shortest_kernel(ops_)),
        passes_(predictor),
        editor_(predictor) {}

  bool edit() {
    const std::size_t messages = edit_messages();
    if (messages == 0) return false;
    edit_kernels();
    edit_host();
    return true;
  }
  Scenario take() { return editor_.take(); }

 private:
  std::map<std::pair<std::int32_t, std::int32_t>, Ends> ends() const {
    const Trace& trace = predictor_.trace();
    std::map<std::pair<std::int32_t, std::int32_t>, Ends> result;
    for (const Collective& one : trace.collectives) {
      if (!one.op.valid() || one.peer < 0 || !is_point_to_point(trace.strings[one.kind])) continue;
      const std::int32_t rank =
          trace.processes[trace.streams[ops_.stream[one.op.value].value].process.value].rank;
      const bool sent = trace.strings[one.kind] == "send";
      Ends& its = result[sent ? std::pair(rank, one.peer) : std::pair(one.peer, rank)];
      (sent ? its.sent : its.received).push_back(end_of_message(one, sent));
    }
    return result;
  }

  Message end_of_message(const Collective& message, bool sent) const {
    Message result{message.op, &message, {}, {}};
    const std::vector<DeviceOpId> pass = passes_.pass_of(message.op, sent);
    for (DeviceOpId one : pass) result.pass += of_all_parts(one);
    if (!pass.empty()) {
      const CallId last = ops_.call[(sent ? message.op : pass.back()).value];
      result.hosted = host_time(ops_.call[pass.front().value], last) * kTimes;
    }
    result.pass = std::max(result.pass, result.hosted);
    return result;
  }

  /// Of the thread of both calls, from the start of one to the start of the other, without waits for
  /// the device. 0 for calls of different threads.
  DurationNs host_time(CallId first, CallId last) const {
    const Calls& calls = predictor_.trace().calls;
    if (!first.valid() || !last.valid() || calls.thread[first.value] != calls.thread[last.value])
      return {};
    const Program& program = predictor_.program();
    DurationNs time = calls.start[last.value] - calls.start[first.value];
    const auto of_thread = predictor_.trace().calls_of_thread[calls.thread[first.value]];
    auto call = std::ranges::lower_bound(of_thread, calls.start[first.value], {},
                                         [&](CallId one) { return calls.start[one.value]; });
    for (; call != of_thread.end() && calls.start[call->value] < calls.start[last.value]; ++call) {
      DurationNs waits;
      const Slot start = program.slot_of(start_of(points_.task(*call)));
      program.for_each(program.slot_of(end_of(points_.task(*call))), [&](const Constraint& one) {
        if (one.kind == EdgeKind::kHostSync)
          waits = std::max(waits, program.recorded(one.from) - program.recorded(start));
      });
      time = time - waits;
    }
    return std::max(DurationNs{0}, time);
  }

  /// A message is sent after half of its pass. But it is not sent so early that a faster receiver
  /// would need the second half before it is ready.
  std::size_t edit_messages() {
    std::size_t count = 0;
    for (const auto& [ranks, its] : ends()) {
      for (std::size_t i = 0; i < std::min(its.sent.size(), its.received.size()); ++i) {
        const Message& sent = its.sent[i];
        const Message& received = its.received[i];
        const DurationNs both =
            received.pass.ns > 0 ? std::min(sent.pass, received.pass) : sent.pass;
        bring_forward(sent, both / kTimes);
        for (const Collective* end : {sent.what, received.what})
          editor_.scale_message(*end, 1.0 / kTimes, take_);
        ++count;
      }
    }
    return count;
  }

  void bring_forward(const Message& sent, DurationNs by) {
    const Program& program = predictor_.program();
    const double share = sent.pass.ns > 0 ? ratio(by, sent.pass) : 0;
    const DurationNs asked{std::llround(share * static_cast<double>(sent.hosted.ns))};
    program.for_each(program.slot_of(start_of(points_.task(sent.op))),
                     [&](const Constraint& constraint) {
                       if (constraint.kind == EdgeKind::kEventWait)
                         editor_.set_earlier(constraint.id, constraint.lag - by);
                       else if (constraint.kind == EdgeKind::kLaunch)
                         editor_.set_earlier(constraint.id, constraint.lag - asked);
                     });
  }

  /// What all parts of an op take together.
  DurationNs of_all_parts(DeviceOpId op) const {
    const Trace& trace = predictor_.trace();
    const Analysis& analysis = predictor_.analysis();
    const Phase phase = analysis.attribution.phase_of[op.value];
    const DurationNs now = ops_.interval(op).length();
    if (ops_.kind[op.value] != DeviceOpKind::kKernel || phase == Phase::kUpdate ||
        analysis.attribution.class_of[op.value] == TimeClass::kCommTransfer)
      return now;
    // Adding up gradients depends on the size of the parameters, not on that of the micro batch.
    if (phase == Phase::kBackward && ops_.op[op.value] < 0 && has_graph()) return now * kTimes;
    const DeviceId device = trace.streams[ops_.stream[op.value].value].device;
    const std::int32_t processors =
        limits_of(trace.devices[device.value], analysis.work.front().architecture).multiprocessors;
    const std::int64_t blocks = ops_.blocks[op.value];
    const double worse =
        blocks > 0
            ? fill(blocks, processors) /
                  std::max(1e-3, fill(std::max<std::int64_t>(1, blocks / kTimes), processors))
            : 1;
    const auto working = static_cast<double>(std::max<std::int64_t>(0, (now - least_).ns));
    return least_ * kTimes + DurationNs{std::llround(working * worse)};
  }

  void edit_kernels() {
    for (std::uint32_t i = 0; i < ops_.size(); ++i) {
      const DurationNs parts = of_all_parts(DeviceOpId{i});
      if (parts != ops_.interval(DeviceOpId{i}).length())
        editor_.set_duration(points_.task(DeviceOpId{i}), parts, true);
    }
  }

  /// The host issues everything except the update once for each half. If it waits for the device
  /// after a launch, each wait starts with the same delay.
  void edit_host() {
    const Trace& trace = predictor_.trace();
    std::set<ThreadId> threads;
    for (const Collective& one : trace.collectives)
      if (one.op.valid() && passes_.is_message(one.op) && ops_.call[one.op.value].valid())
        threads.insert(trace.calls.thread[ops_.call[one.op.value].value]);
    for (ThreadId thread : threads) {
      bool updates = false;
      DeviceOpId launched;
      for (CallId call : trace.calls_of_thread[thread]) {
        if (const DeviceOpId op = trace.calls.op[call.value]; op.valid()) {
          launched = op;
          updates = predictor_.analysis().attribution.phase_of[op.value] == Phase::kUpdate;
        } else if (is_blocking(trace.calls.kind[call.value]) && launched.valid() && !updates) {
          repeat_latency(launched);
          launched = DeviceOpId::none();
        }
        if (!updates) editor_.repeat_call(call, kTimes);
      }
    }
  }

  void repeat_latency(DeviceOpId op) {
    const Program& program = predictor_.program();
    program.for_each(program.slot_of(start_of(points_.task(op))),
                     [&](const Constraint& constraint) {
                       if (constraint.kind == EdgeKind::kLaunch)
                         editor_.set_lag(constraint.id, constraint.lag * kTimes);
                     });
  }

  bool has_graph() const { return !predictor_.trace().graph_ops.empty(); }

  const Predictor& predictor_;
  const BytesTake take_;
  const DeviceOps& ops_;
  const Points& points_;
  const DurationNs least_;
  const Passes passes_;
  Editor editor_;
};

Proposal propose(const Predictor& predictor) {
  const Pipeline pipeline = find_pipeline(rule_context(predictor));
  if (const std::string_view why = why_not_whole(pipeline); !why.empty())
    return not_here(std::string(why));
  auto of = [&](BytesTake take) {
    MoreParts parts(predictor, take);
    return parts.edit() ? parts.take() : Scenario();
  };
  Scenario likely = of(BytesTake::kLikely);
  if (likely.edits.empty()) return not_here("the messages were not matched between ranks");
  Proposal proposal{
      true,
      fmt::format("{:.0f} micro batches on {} stages become {:.0f} of half the size",
                  pipeline.micro_batches, pipeline.stages.size(), kTimes * pipeline.micro_batches),
      std::move(likely)};
  for (const BytesTake take : {BytesTake::kLeast, BytesTake::kMost})
    proposal.otherwise.push_back(of(take));
  proposal.setting = fmt::format("--micro-batches {:.0f}", kTimes * pipeline.micro_batches);
  return proposal;
}

}  // namespace

const Fix kMoreMicroBatches{
    "more-micro-batches",
    "Use twice as many micro batches",
    "pipeline-bubble, comm-exposed",
    FixKind::kModelled,
    0.2,
    "--micro-batches",
    "A stage sends half of the bytes after half of its pass: of its kernels' time, or of its "
    "host's "
    "if that is longer. Each kernel except the update becomes two, each with the shortest kernel's "
    "time plus half of the rest, or more if a smaller grid fills less of the device. Gradient "
    "accumulation and launches double, except for the update.",
    "whether the batch can be split further",
    propose};

}  // namespace headway::analyzer
