// SPDX-License-Identifier: MIT
// Kernels that only change the order of data in memory, or its type, are removed.
#include <fmt/format.h>

#include <vector>

#include "analyzer/evidence/layout_kernels.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Drops the kernels of `dropped`, one flag per device op.
Proposal drop(const Predictor& predictor, const std::vector<bool>& dropped, std::string_view what) {
  Editor editor(predictor);
  for (std::uint32_t i = 0; i < dropped.size(); ++i) {
    if (dropped[i]) editor.drop_op(DeviceOpId{i});
  }
  if (editor.empty()) return not_here(fmt::format("there are no {}", what));
  const DeviceOps& ops = predictor.trace().device_ops;
  DurationNs time = per_step(predictor, [&](DeviceOpId op) {
    return dropped[op.value] ? ops.interval(op).length() : DurationNs{};
  });
  return {true, fmt::format("saves {} of {} per step", format_duration(time), what), editor.take()};
}

/// Drops the kernels that the rule counts. Transposes of attention heads are not among them,
/// because they do not concern the layout of images.
Proposal propose_layout(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  std::vector<bool> dropped(trace.device_ops.size());
  bool convolutions = false;
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s) {
    std::vector<DeviceOpId> ops;
    for (DeviceOpId op : trace.ops_of_stream[StreamId{s}])
      if (trace.device_ops.kind[op.value] != DeviceOpKind::kMemset) ops.push_back(op);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      convolutions |= predictor.kernels().of(ops[i]).family == KernelFamily::kConvolution;
      dropped[ops[i].value] = changes_image_layout(predictor.kernels(), ops, i);
    }
  }
  if (!convolutions) return not_here("no convolution kernel ran");
  return drop(predictor, dropped, "layout changes");
}

Proposal propose_casts(const Predictor& predictor) {
  const DeviceOps& ops = predictor.trace().device_ops;
  std::vector<bool> dropped(ops.size());
  for (std::uint32_t i = 0; i < ops.size(); ++i)
    dropped[i] = predictor.kernels().of(DeviceOpId{i}).family == KernelFamily::kCast;
  return drop(predictor, dropped, "casts");
}

}  // namespace

const Fix kNoLayoutChanges{
    "no-layout-changes",
    "Keep one memory layout",
    "layout-transposes",
    FixKind::kModelled,
    0.2,
    "--layout nhwc",
    "Layout-changing kernels around convolutions are not run; the convolutions keep their time.",
    "convolution speed in the other layout, and whether every op supports it",
    propose_layout};

const Fix kNoCasts{"no-casts",
                   "Keep one number type between ops",
                   "amp-casts",
                   FixKind::kCeiling,
                   0.05,
                   "",
                   "Kernels that only convert numbers are not run.",
                   "which casts the numerics need",
                   propose_casts};

}  // namespace headway::analyzer
