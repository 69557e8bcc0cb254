// SPDX-License-Identifier: MIT
#include "analyzer/evidence/serial_repeats.h"

#include "analyzer/evidence/device_streams.h"

namespace headway::analyzer {
namespace {

using Ops = std::span<const trace::DeviceOpId>;

constexpr std::size_t kShortestPeriod = 3;
constexpr std::size_t kLongestPeriod = 64;
constexpr std::size_t kRepetitions = 8;

struct Repeat {
  std::size_t first = 0;
  std::size_t period = 0;
  std::size_t count = 0;  ///< whole periods
  std::size_t end() const { return first + period * count; }
};

/// The repetition in `ops` that covers most kernels; count 0 if there is none.
Repeat longest_repeat(const RuleContext& context, Ops ops) {
  Repeat best;
  const std::vector<trace::StringId>& name = context.trace.device_ops.name;
  for (std::size_t p = kShortestPeriod; p <= kLongestPeriod && p * kRepetitions <= ops.size();
       ++p) {
    std::size_t run = 0;
    for (std::size_t i = p; i <= ops.size(); ++i) {
      if (i < ops.size() && name[ops[i].value] == name[ops[i - p].value]) {
        ++run;
        continue;
      }
      Repeat found{i - run - p, p, (run + p) / p};
      if (found.count >= kRepetitions && found.end() - found.first > best.end() - best.first)
        best = found;
      run = 0;
    }
  }
  return best;
}

/// True if the period has work that a plain loop over parameters or layers does not have.
bool has_data_dependent_work(const RuleContext& context, Ops period) {
  bool two_names = false;
  bool more_than_arithmetic = false;
  for (trace::DeviceOpId op : period) {
    two_names |= context.trace.device_ops.name[op.value] !=
                 context.trace.device_ops.name[period.front().value];
    switch (context.kernels.of(op).family) {
      case KernelFamily::kGatherScatter:
      case KernelFamily::kSort:
      case KernelFamily::kReduction:
      case KernelFamily::kFillCopy:
      case KernelFamily::kPooling:
        more_than_arithmetic = true;
        break;
      default:
        break;
    }
  }
  return two_names && more_than_arithmetic;
}

bool ends_a_stretch(const RuleContext& context, trace::DeviceOpId op) {
  KernelFamily family = context.kernels.of(op).family;
  return is_matrix_work(family) || family == KernelFamily::kOptimizer ||
         family == KernelFamily::kCommunication ||
         context.attribution.phase_of[op.value] == trace::Phase::kUpdate;
}

}  // namespace

std::int64_t for_each_serial_repeat(const RuleContext& context, const DevicePartition& device,
                                    const std::function<void(const SerialRepeat&)>& visit) {
  auto judge = [&](Ops stretch) {
    const Repeat repeat = longest_repeat(context, stretch);
    if (repeat.count < kRepetitions) return;
    Ops ops = stretch.subspan(repeat.first, repeat.end() - repeat.first);
    if (has_data_dependent_work(context, ops.first(repeat.period)))
      visit({ops, repeat.period, repeat.count});
  };
  return for_each_stream(context, device, [&](const DeviceStep&, Ops ops) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= ops.size(); ++i) {
      if (i < ops.size() && !ends_a_stretch(context, ops[i])) continue;
      if (i - begin >= kShortestPeriod * kRepetitions) judge(ops.subspan(begin, i - begin));
      begin = i + 1;
    }
  });
}

}  // namespace headway::analyzer
