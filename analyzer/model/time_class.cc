// SPDX-License-Identifier: MIT
#include "analyzer/model/time_class.h"

#include <algorithm>
#include <numeric>

#include "common/error.h"

namespace headway::analyzer {
namespace {

using enum TimeClass;

// Hues after Okabe and Ito, lightened or darkened within a group so that neighbours differ in
// lightness too.
constexpr std::array<TimeClassInfo, kTimeClassCount> kClasses = {{
    {kComputeTensor, "compute_tensor", "Compute (tensor cores)", "Kernels that use tensor cores.",
     TimeGroup::kCompute, 0x00684a},
    {kComputeOther, "compute_other", "Compute", "All other kernels and memory sets.",
     TimeGroup::kCompute, 0x2fa37c},
    {kOptimizer, "optimizer", "Optimizer", "Kernels launched inside the optimizer's update.",
     TimeGroup::kCompute, 0x9bd8bf},
    {kCommTransfer, "comm_transfer", "Communication", "Exposed communication.",
     TimeGroup::kCommunication, 0x8d4f7f},
    {kStragglerWait, "straggler_wait", "Waiting for ranks",
     "Communication that waits for the last rank.", TimeGroup::kCommunication, 0xd59bc3},
    {kH2d, "h2d", "Copy to device", "Exposed copies from host to device.", TimeGroup::kCopy,
     0x0b4f8a},
    {kD2hOther, "d2h_other", "Other copies", "All other exposed copies.", TimeGroup::kCopy,
     0x6fb6e8},
    {kIoRead, "io_read", "Input: read",
     "The device waits for a batch whose worker reads from storage.", TimeGroup::kInput, 0xb03a00},
    {kDecode, "decode", "Input: decode",
     "The device waits for a batch whose worker decodes or augments.", TimeGroup::kInput, 0xe8781e},
    {kInputOther, "input_other", "Input: other",
     "The device waits for a batch in collation, in handover, on the launching thread, or not "
     "begun.",
     TimeGroup::kInput, 0xf8b878},
    {kLaunchGap, "launch_gap", "Launch gap",
     "The device waits because the host issues the next op slowly.", TimeGroup::kHost, 0xb89a00},
    {kFrontendGap, "frontend_gap", "Front-end gap",
     "The device switches between ops, although the next op was launched in time.",
     TimeGroup::kOther, 0xb0b0b0},
    {kHostSync, "host_sync", "Host sync",
     "The device waits because the host blocked on it and launched nothing meanwhile.",
     TimeGroup::kHost, 0xf0d848},
    {kAllocator, "allocator", "Allocator", "The device waits for memory to be allocated or freed.",
     TimeGroup::kHost, 0x7a6a3a},
    {kHostOther, "host_other", "Host: other",
     "The device waits for host work other than launching and input.", TimeGroup::kHost, 0xcdbf94},
    {kBetweenSteps, "between_steps", "Between steps",
     "Work outside steps: evaluation, checkpoints, logging, worker restarts, garbage collection.",
     TimeGroup::kBetween, 0x7d6aa8},
    {kProfiler, "profiler", "Profiler", "Overhead of the recording.", TimeGroup::kOther, 0x606060},
    {kUnknown, "unknown", "Unknown", "Idle time without a recorded reason.", TimeGroup::kOther,
     0x303030},
}};

constexpr bool in_enum_order() {
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    if (kClasses[i].time_class != static_cast<TimeClass>(i)) return false;
  }
  return true;
}
static_assert(in_enum_order(), "kClasses must list the classes in the order of enum TimeClass");

}  // namespace

std::span<const TimeClassInfo, kTimeClassCount> time_classes() {
  return kClasses;
}

const TimeClassInfo& info(TimeClass time_class) {
  HEADWAY_INVARIANT(time_class < TimeClass::kCount_);
  return kClasses[static_cast<std::size_t>(time_class)];
}

DurationNs ClassTimes::total() const {
  DurationNs sum;
  for (DurationNs time : of) sum += time;
  return sum;
}

DurationNs ClassTimes::of_group(TimeGroup group) const {
  DurationNs sum;
  for (const TimeClassInfo& c : kClasses) {
    if (c.group == group) sum += (*this)[c.time_class];
  }
  return sum;
}

ClassTimes& ClassTimes::operator+=(const ClassTimes& other) {
  for (std::size_t i = 0; i < of.size(); ++i) of[i] += other.of[i];
  return *this;
}

ClassTimes mean_of(const ClassTimes& sum, std::int64_t count) {
  ClassTimes mean;
  if (count <= 0) return mean;
  // The largest remainders are rounded up; among equal ones the first.
  std::array<std::size_t, kTimeClassCount> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sum.of[a].ns % count > sum.of[b].ns % count;
  });
  for (std::size_t i = 0; i < kTimeClassCount; ++i) mean.of[i] = sum.of[i] / count;
  std::int64_t missing = sum.total().ns / count - mean.total().ns;
  for (std::size_t i = 0; missing > 0; ++i, --missing) mean.of[order[i]] += DurationNs{1};
  return mean;
}

}  // namespace headway::analyzer
