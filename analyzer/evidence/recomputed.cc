// SPDX-License-Identifier: MIT
#include "analyzer/evidence/recomputed.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <unordered_set>

#include "analyzer/evidence/counters.h"
#include "analyzer/partition/steady_ops.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr std::size_t kRow = 4;
constexpr std::uint64_t kMade = 0xC0DE;
/// Usable share of the device's memory: fragments and peaks between samples need the rest.
constexpr double kUsable = 0.9;
/// With a smaller share in use, there is room for activations of unknown size: they seldom take
/// more than the rest of a model.
constexpr double kHalfFull = 0.45;

struct Kernels {
  std::vector<DeviceOpId> forward;
  std::vector<DeviceOpId> backward;
};

class StepRows {
 public:
  explicit StepRows(const RuleContext& context) : context_(context) {}

  /// The kernels of the backward pass that repeat kernels of the forward pass.
  std::vector<DeviceOpId> repeated(const Kernels& step) const {
    std::vector<DeviceOpId> result;
    if (step.forward.size() < kRow || step.backward.size() < kRow) return result;
    std::unordered_set<std::uint64_t> rows;
    for (std::size_t i = 0; i + kRow <= step.forward.size(); ++i)
      rows.insert(key_of(step.forward, i));
    std::vector<bool> covered(step.backward.size());
    for (std::size_t i = 0; i + kRow <= step.backward.size(); ++i)
      if (rows.contains(key_of(step.backward, i)))
        std::fill_n(covered.begin() + static_cast<std::ptrdiff_t>(i), kRow, true);
    for (std::size_t i = 0; i < covered.size();) {
      std::size_t end = i;
      bool product = false;
      for (; end < covered.size() && covered[end]; ++end) product |= is_product(step.backward[end]);
      for (; product && i < end; ++i) result.push_back(step.backward[i]);
      i = end + 1;
    }
    return result;
  }

 private:
  std::uint64_t key_of(const std::vector<DeviceOpId>& kernels, std::size_t at) const {
    const DeviceOps& ops = context_.trace.device_ops;
    std::uint64_t key = 0xCBF29CE484222325;
    auto add = [&](std::uint64_t value) { key = (key ^ value) * 0x100000001B3; };
    const auto row = std::span(kernels).subspan(at, kRow);
    const bool one_made =
        std::ranges::count_if(row, [&](DeviceOpId op) { return is_made(op); }) == 1;
    for (std::size_t i = at; i < at + kRow; ++i) {
      if (one_made && is_made(kernels[i])) {
        add(kMade);
        continue;
      }
      add(ops.name[kernels[i].value].value);
      add(ops.blocks[kernels[i].value]);
      add(ops.block_threads[kernels[i].value]);
    }
    return key;
  }

  /// True if a compiler generated the kernel.
  bool is_made(DeviceOpId op) const {
    return context_.kernels.of(op).family == KernelFamily::kFused;
  }

  bool is_product(DeviceOpId op) const {
    const KernelFamily family = context_.kernels.of(op).family;
    return family == KernelFamily::kGemm || family == KernelFamily::kConvolution ||
           family == KernelFamily::kAttention;
  }

  const RuleContext& context_;
};

/// Bytes of the results of the graph ops behind `ops`, each counted once. `ops`: of one step.
std::int64_t result_bytes(const RuleContext& context, const std::vector<DeviceOpId>& ops) {
  std::set<OpId> distinct;
  for (DeviceOpId op : ops) distinct.insert(context.attribution.op_of[op.value]);
  std::int64_t bytes = 0;
  for (OpId op : distinct)
    if (const GraphOpId graph = context.attribution.ops[op.value].graph_op; graph.valid())
      bytes += context.trace.graph_ops[graph.value].output_bytes;
  return bytes;
}

void judge_room(const RuleContext& context, const DevicePartition& device, Recomputed& result) {
  const double peak = counters::memory_peak(context.trace, device.device);
  const auto memory = static_cast<double>(context.trace.devices[device.device.value].memory_bytes);
  if (peak <= 0 || memory <= 0) return;
  result.free_bytes = static_cast<std::int64_t>(std::max(0.0, memory - peak));
  const bool known = result.bytes > 0;
  const bool room = known ? peak + static_cast<double>(result.bytes) <= kUsable * memory
                          : peak <= kHalfFull * memory;
  // Between the usable share and the whole memory, only a test run can tell.
  const bool full = known && peak + static_cast<double>(result.bytes) > memory;
  result.room = room ? MemoryRoom::kYes : full ? MemoryRoom::kNo : MemoryRoom::kUnknown;
}

}  // namespace

Recomputed find_recomputed(const RuleContext& context, const DevicePartition& device) {
  Recomputed result;
  const DeviceOps& ops = context.trace.device_ops;
  const StepRows rows(context);
  for (const DeviceStep& step : device.steps) {
    const bool steady = counts(context.steps, step);
    result.steps += steady;
    Kernels kernels;
    auto i = static_cast<std::size_t>(
        std::lower_bound(ops.start.begin(), ops.start.end(), step.interval.begin) -
        ops.start.begin());
    for (; i < ops.size() && ops.start[i] < step.interval.end; ++i) {
      const DeviceOpId op = DeviceOpId::from(i);
      if (ops.kind[i] != DeviceOpKind::kKernel ||
          context.trace.streams[ops.stream[i].value].device != device.device ||
          context.kernels.of(op).family == KernelFamily::kCommunication)
        continue;
      const Phase phase = context.attribution.phase_of[i];
      if (phase == Phase::kForward) kernels.forward.push_back(op);
      if (phase != Phase::kBackward) continue;
      kernels.backward.push_back(op);
      if (steady) result.backward += ops.interval(op).length();
    }
    const std::vector<DeviceOpId> again = rows.repeated(kernels);
    if (steady) {
      result.kernels += std::ssize(again);
      for (DeviceOpId op : again) result.time += ops.interval(op).length();
      if (result.bytes == 0) result.bytes = result_bytes(context, again);
    }
    result.ops.insert(result.ops.end(), again.begin(), again.end());
  }
  const std::int64_t steps = std::max<std::int64_t>(1, result.steps);
  result.time = result.time / steps;
  result.backward = result.backward / steps;
  if (!result.ops.empty()) judge_room(context, device, result);
  return result;
}

}  // namespace headway::analyzer
