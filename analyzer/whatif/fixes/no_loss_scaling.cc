// SPDX-License-Identifier: MIT
// BF16 has the range of FP32, so losses are not scaled and gradients not unscaled.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/fixes/loss_scaling.h"
#include "analyzer/whatif/kernel_bound.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

Proposal propose(const Predictor& predictor) {
  const std::optional<DeviceLimits> limits = limits_of_steps(predictor);
  if (!limits) return not_here("the steps run on a host thread");
  if (!limits->bf16) return not_here("the device does not support BF16");
  Editor editor(predictor);
  const std::int64_t kernels = drop_loss_scaling(predictor.trace(), editor);
  if (kernels == 0) return not_here("no kernel is known to unscale gradients");
  const auto steps =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(predictor.analysis().steps.all.size()));
  Proposal proposal{true,
                    fmt::format("saves {} unscale kernels per step: BF16 needs no loss scaling",
                                format_count((kernels + steps / 2) / steps)),
                    editor.take()};
  // With casts between products the trainer's switch is half-throughout.
  if (!is_mixed(predictor)) proposal.setting = "--precision bf16";
  return proposal;
}

}  // namespace

/// "sim::unscale", "_amp_foreach_non_finite_check_and_unscale_cuda", "amp_update_scale_cuda_kernel".
bool scales_losses(std::string_view kernel) {
  return kernel.find("unscale") != std::string_view::npos ||
         kernel.find("amp_update_scale") != std::string_view::npos;
}

namespace {

/// The shortest pass of an update over its tensors; kernels that only finish a sum do not count.
DeviceOpId shortest_pass(const DeviceOps& ops, std::span<const DeviceOpId> kernels) {
  constexpr std::int64_t kNoPass = 10;
  auto time_of = [&](DeviceOpId op) { return ops.interval(op).length(); };
  DeviceOpId shortest = *std::ranges::max_element(kernels, {}, time_of);
  const DurationNs longest = time_of(shortest);
  for (DeviceOpId op : kernels)
    if (time_of(op) * kNoPass >= longest && time_of(op) < time_of(shortest)) shortest = op;
  return shortest;
}

/// Times of kernels that move a share of the bytes.
class Moving {
 public:
  explicit Moving(const Predictor& predictor)
      : predictor_(predictor), least_(shortest_kernel(predictor.trace().device_ops)) {
    if (const auto limits = limits_of_steps(predictor)) multiprocessors_ = limits->multiprocessors;
  }

  DurationNs least() const { return least_; }
  /// The kernel's time with the share `bytes` of its bytes.
  DurationNs with(DeviceOpId op, double bytes) const {
    const DurationNs now = predictor_.trace().device_ops.interval(op).length();
    if (now <= least_) return now;
    const double left = share_with_bytes(predictor_, op, multiprocessors_, bytes);
    return least_ + DurationNs{std::llround(left * static_cast<double>((now - least_).ns))};
  }

 private:
  const Predictor& predictor_;
  DurationNs least_;
  std::int32_t multiprocessors_ = 0;
};

/// Remaining share, with gradients in 16 bits, of unscaling and of an update with several passes
/// over its tensors. An update in one pass also writes a copy of the weights in 16 bits, which
/// costs what the gradient saves.
constexpr double kUnscalingLeft = 0.5;
constexpr double kPassesLeft = 0.92;

/// Finds the begin of the step in which a kernel was launched, on the launching thread.
class StepBegins {
 public:
  explicit StepBegins(const Analysis& analysis) {
    for (const Step& step : analysis.steps.all) begins_[step.thread].push_back(step.host.begin);
  }
  TimeNs of(const Trace& trace, DeviceOpId op) const {
    const CallId call = trace.device_ops.call[op.value];
    if (!call.valid()) return {};
    const auto found = begins_.find(trace.calls.thread[call.value]);
    if (found == begins_.end()) return {};
    const auto after = std::ranges::upper_bound(found->second, trace.calls.start[call.value]);
    return after == found->second.begin() ? TimeNs{} : *std::prev(after);
  }

 private:
  std::map<ThreadId, std::vector<TimeNs>> begins_;
};

/// The kernels of each update, by op, batch and begin of the step.
using Updates = std::map<std::tuple<std::uint32_t, std::int64_t, TimeNs>, std::vector<DeviceOpId>>;

Updates updates_of(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  const Attribution& attribution = predictor.analysis().attribution;
  const StepBegins begins(predictor.analysis());
  Updates updates;
  for (std::uint32_t i = 0; i < ops.size(); ++i)
    if (ops.kind[i] == DeviceOpKind::kKernel && attribution.phase_of[i] == Phase::kUpdate &&
        !scales_losses(trace.strings[ops.name[i]]))
      updates[{attribution.op_of[i].value, ops.batch[i], begins.of(trace, DeviceOpId{i})}]
          .push_back(DeviceOpId{i});
  return updates;
}

/// True if the update has several passes. Kernels of equal names share the tensors; kernels of
/// different names each pass over all tensors.
bool has_passes(const DeviceOps& ops, const std::vector<DeviceOpId>& kernels) {
  return std::ranges::any_of(kernels, [&](DeviceOpId op) {
    return ops.name[op.value] != ops.name[kernels.front().value];
  });
}

}  // namespace

void add_loss_scaling(const Predictor& predictor, bool halved, Editor& editor) {
  // Unscaling reads and writes the gradients once more. The shortest pass of an update moves two or
  // three tensors; a kernel that does the whole update moves six.
  constexpr double kOfPass = 0.7;
  constexpr double kOfWhole = 0.35;
  const DeviceOps& ops = predictor.trace().device_ops;
  const Points& points = predictor.program().graph().points();
  const Moving moving(predictor);
  for (const auto& [what, kernels] : updates_of(predictor)) {
    const bool passes = has_passes(ops, kernels);
    const double update = halved && passes ? kPassesLeft : 1;
    const double share = (passes ? kOfPass : kOfWhole) * (halved ? kUnscalingLeft : 1.0);
    const DurationNs unscaling =
        std::max(moving.least(), moving.with(shortest_pass(ops, kernels), share));
    for (DeviceOpId op : kernels) {
      const DurationNs left = moving.with(op, update);
      editor.set_duration(points.task(op), op == kernels.front() ? left + unscaling : left, true);
    }
    if (const CallId call = ops.call[kernels.front().value]; call.valid())
      editor.repeat_call(call, 2);
  }
}

void halve_gradients(const Predictor& predictor, Editor& editor) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  const Moving moving(predictor);
  auto shorten = [&](DeviceOpId op, double left) {
    if (ops.interval(op).length() > moving.least()) editor.set_op(op, moving.with(op, left), true);
  };
  for (std::uint32_t i = 0; i < ops.size(); ++i)
    if (ops.kind[i] == DeviceOpKind::kKernel && scales_losses(trace.strings[ops.name[i]]))
      shorten(DeviceOpId{i}, kUnscalingLeft);
  for (const auto& [what, kernels] : updates_of(predictor))
    if (has_passes(ops, kernels))
      for (DeviceOpId op : kernels) shorten(op, kPassesLeft);
}

std::int64_t drop_loss_scaling(const Trace& trace, Editor& editor) {
  std::vector<bool> scales(trace.strings.size());
  for (std::uint32_t i = 0; i < trace.strings.size(); ++i)
    scales[i] = scales_losses(trace.strings[StringId{i}]);
  std::int64_t kernels = 0;
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
    if (trace.device_ops.kind[i] != DeviceOpKind::kKernel ||
        !scales[trace.device_ops.name[i].value])
      continue;
    editor.drop_op(DeviceOpId{i});
    ++kernels;
  }
  return kernels;
}

const Fix kNoLossScaling{"no-loss-scaling",
                         "Compute in BF16 instead of FP16",
                         "amp-casts",
                         FixKind::kModelled,
                         0.2,
                         "",
                         "Kernels that unscale gradients and check for infinities disappear; all "
                         "other kernels keep their FP16 time.",
                         "training quality with BF16's shorter mantissa",
                         propose};

}  // namespace headway::analyzer
