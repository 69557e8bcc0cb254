// SPDX-License-Identifier: MIT
#include "reference_trainer/oracle/step_truth.h"

#include <algorithm>

#include "reference_trainer/oracle/host_truth.h"

namespace headway::trainer {
namespace {

using conventions::DeviceOpKind;
using sim::Op;

/// Kinds of device activity, in order of priority.
enum Activity : std::uint8_t {
  kComputing,
  kUpdating,
  kTransferring,
  kStraggling,
  kH2d,
  kD2h,
  kActivities
};

constexpr TruthClass kClassOf[] = {TruthClass::kCompute,      TruthClass::kOptimizer,
                                   TruthClass::kCommTransfer, TruthClass::kStragglerWait,
                                   TruthClass::kH2d,          TruthClass::kD2hOther};

struct Change {
  std::int64_t time;
  int delta;
  Activity activity;
  const Op* starts;  ///< the op that starts here; null at ends
};

std::vector<Change> changes_of(const std::vector<Op>& ops) {
  std::vector<Change> changes;
  changes.reserve(2 * ops.size());
  auto add = [&](std::int64_t begin, std::int64_t end, Activity activity, const Op* op) {
    changes.push_back({begin, 1, activity, op});
    changes.push_back({end, -1, activity, nullptr});
  };
  for (const Op& op : ops) {
    if (op.kind == DeviceOpKind::kCommunication) {
      add(op.start, op.last_arrival, kStraggling, &op);
      add(op.last_arrival, op.end, kTransferring, nullptr);
    } else if (op.kind == DeviceOpKind::kKernel) {
      add(op.start, op.end, op.phase == Phase::kUpdate ? kUpdating : kComputing, &op);
    } else {
      add(op.start, op.end, op.kind == DeviceOpKind::kCopyHostToDevice ? kH2d : kD2h, &op);
    }
  }
  std::ranges::stable_sort(changes, {}, &Change::time);
  return changes;
}

/// Ends of the steps: the last op of each step's update, or of its forward pass where nothing is
/// updated.
std::vector<std::int64_t> step_ends(const std::vector<Op>& ops, std::int64_t micro_batches) {
  std::vector<std::int64_t> ends;
  auto ends_one = [](Phase phase) {
    return [phase](const Op& op) {
      return op.phase == phase && op.kind == DeviceOpKind::kKernel && op.batch >= 0;
    };
  };
  const bool updates = std::ranges::any_of(ops, ends_one(Phase::kUpdate));
  const auto is_last = ends_one(updates ? Phase::kUpdate : Phase::kForward);
  for (const Op& op : ops) {
    if (!is_last(op)) continue;
    const auto step = static_cast<std::size_t>(op.batch / micro_batches);
    if (ends.size() <= step) ends.resize(step + 1, 0);
    ends[step] = std::max(ends[step], op.end);
  }
  return ends;
}

class Sweep {
 public:
  Sweep(const sim::Recording& recording, std::int64_t micro_batches, std::int64_t launch_latency)
      : changes_(changes_of(recording.ops)), host_(recording), launch_latency_(launch_latency) {
    const std::vector<std::int64_t> ends = step_ends(recording.ops, micro_batches);
    for (std::size_t i = 1; i < ends.size(); ++i) {
      StepTruth step;
      step.step = static_cast<std::int64_t>(i);
      step.start = ends[i - 1];
      step.end = ends[i];
      steps_.push_back(step);
    }
  }

  std::vector<StepTruth> run() {
    int active[kActivities] = {};
    std::int64_t at = 0;
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      const Change& change = changes_[i];
      if (change.time > at) {
        spread(at, change.time, active, change.starts);
        at = change.time;
      }
      active[change.activity] += change.delta;
    }
    return std::move(steps_);
  }

 private:
  /// [begin, end) has one kind of activity throughout; distributes it over the steps that it lies
  /// in.
  void spread(std::int64_t begin, std::int64_t end, const int* active, const Op* next) {
    auto step =
        std::ranges::partition_point(steps_, [&](const StepTruth& s) { return s.end <= begin; });
    for (; step != steps_.end() && step->start < end; ++step)
      charge(std::max(begin, step->start), std::min(end, step->end), active, next, *step);
  }

  void charge(std::int64_t begin, std::int64_t end, const int* active, const Op* next,
              StepTruth& step) {
    const bool working = active[kComputing] > 0 || active[kUpdating] > 0;
    if (working && active[kTransferring] + active[kStraggling] > 0)
      step.hidden_comm_ns += end - begin;
    if (working && active[kH2d] + active[kD2h] > 0) step.hidden_copy_ns += end - begin;
    for (int i = 0; i < kActivities; ++i) {
      if (active[i] == 0) continue;
      step.ns[static_cast<std::size_t>(kClassOf[i])] += end - begin;
      return;
    }
    if (!next || next->binding != sim::Binding::kLaunch) {
      step.ns[static_cast<std::size_t>(TruthClass::kFrontendGap)] += end - begin;
      return;
    }
    // The launch held it back: first its own latency counts, and before that the activity of its
    // thread.
    const std::int64_t called = std::clamp(next->start - launch_latency_, begin, end);
    step.ns[static_cast<std::size_t>(TruthClass::kLaunchGap)] += end - called;
    host_.charge(begin, called, step);
  }

  std::vector<Change> changes_;
  const HostTruth host_;
  const std::int64_t launch_latency_;
  std::vector<StepTruth> steps_;
};

}  // namespace

std::string_view name_of(TruthClass truth) {
  static constexpr std::string_view kNames[] = {
      "compute",      "optimizer", "comm_transfer", "straggler_wait", "h2d",
      "d2h_other",    "io_read",   "decode",        "input_other",    "launch_gap",
      "frontend_gap", "host_sync", "allocator",     "host_other"};
  static_assert(std::size(kNames) == kTruthClasses);
  return kNames[static_cast<std::size_t>(truth)];
}

std::vector<StepTruth> step_truths(const sim::Recording& recording, std::int64_t micro_batches,
                                   std::int64_t launch_latency_ns) {
  return Sweep(recording, micro_batches, launch_latency_ns).run();
}

}  // namespace headway::trainer
