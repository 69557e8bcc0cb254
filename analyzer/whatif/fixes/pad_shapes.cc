// SPDX-License-Identifier: MIT
// Extents of matrix products become multiples of 16 bytes.
#include <fmt/format.h>

#include <cmath>

#include "analyzer/evidence/product_alignment.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/kernel_bound.h"
#include "analyzer/whatif/kernel_rates.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  const ProductRates rates(predictor);
  const DurationNs least = shortest_kernel(ops);
  Editor editor(predictor);
  bool told = false;
  std::int64_t kernels = 0;
  auto access = [&](DeviceOpId op) {
    return ops.kind[op.value] == DeviceOpKind::kKernel
               ? access_bytes(trace.strings[ops.name[op.value]], predictor.kernels().of(op))
               : 0;
  };
  auto narrow = [&](DeviceOpId op) {
    const int bytes = access(op);
    return bytes > 0 && bytes < kWholeAccess;
  };
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    const DeviceOpId op{i};
    told |= access(op) > 0;
    const DurationNs now = ops.interval(op).length();
    if (!narrow(op) || now <= least) continue;
    ++kernels;
    const double share = share_of_aligned_rate(access(op));
    const KernelBound bound = bound_of(predictor, op, rates.of(op) * 1e9 * share);
    const double left = bound.known() ? bound.share_left(1 / share, 1) : share;
    editor.set_op(
        op, least + DurationNs{std::llround(left * static_cast<double>((now - least).ns))}, true);
  }
  if (kernels == 0)
    return not_here(told ? "matrix products read 16 bytes at once as it is"
                         : "no kernel's name tells how a product's operands are aligned");
  const DurationNs time = per_step(predictor, [&](DeviceOpId op) {
    return narrow(op) ? ops.interval(op).length() : DurationNs{};
  });
  return {
      true,
      fmt::format("{} of matrix products per step read 16 bytes at once", format_duration(time)),
      editor.take()};
}

}  // namespace

const Fix kPadShapes{
    "pad-shapes",
    "Pad the extents of matrix products",
    "gemm-efficiency",
    FixKind::kModelled,
    0.3,
    "",
    "A product on tensor cores whose kernel reads 2, 4 or 8 bytes at once needs the larger of its "
    "arithmetic at the aligned rate (3, 2 or 1.33 × as fast) and its bytes, where the recording "
    "counts both; else it gets faster by that factor. What padding adds to the work is left out.",
    "how much faster the library's aligned kernel is, and which extents can be padded",
    propose};

}  // namespace headway::analyzer
