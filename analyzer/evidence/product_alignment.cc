// SPDX-License-Identifier: MIT
#include "analyzer/evidence/product_alignment.h"
#include "analyzer/evidence/op_graph.h"

#include <algorithm>
#include <charconv>

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr std::int64_t kGoodMultiple = 64;  ///< elements; 128 bytes of a half
constexpr std::string_view kAlign = "align";

/// Adds the last extent of a shape: rows are contiguous, so in "4096x1020" it decides where they
/// begin.
void add_rows(std::string_view shape, std::vector<std::int64_t>& extents) {
  const std::vector<std::int64_t> all = extents_in(shape);
  if (all.size() > 1) extents.push_back(all.back());
}

std::vector<std::int64_t> extents_of(const Trace& trace, const Attribution& attribution,
                                     DeviceOpId op) {
  std::vector<std::int64_t> extents;
  const GraphOpId node = attribution.ops[attribution.op_of[op.value].value].graph_op;
  if (node.valid()) {
    const GraphOp& graph = trace.graph_ops[node.value];
    add_rows(graph.shape, extents);
    for (const std::int64_t input : graph.inputs)
      if (const GraphOp* from = trace.graph_op(graph.process, input))
        add_rows(from->shape, extents);
    return extents;
  }
  for (RangeId range = attribution.range_of[op.value]; range.valid();
       range = trace.ranges.parent[range.value]) {
    const RangeInfo* info = trace.info(range);
    if (!info || info->shapes.value == 0) continue;
    return extents_in(trace.strings[info->shapes]);
  }
  return extents;
}

}  // namespace

int element_bytes(Precision precision) {
  switch (precision) {
    case Precision::kFp16:
    case Precision::kBf16:
      return 2;
    case Precision::kTf32:
    case Precision::kFp32:
      return 4;
    case Precision::kFp8:
    case Precision::kInt8:
      return 1;
    default:
      return 0;
  }
}

int access_bytes(std::string_view name, const KernelTraits& traits) {
  const int size = element_bytes(traits.precision);
  if (traits.family != KernelFamily::kGemm || traits.math_unit != MathUnit::kTensor || size == 0)
    return 0;
  std::int64_t least = 0;
  for (std::size_t at = name.find(kAlign); at != std::string_view::npos;
       at = name.find(kAlign, at)) {
    at += kAlign.size();
    std::size_t digits = at;  // "align8", or of each operand: "aligna4_alignc4"
    if (digits < name.size() && name[digits] >= 'a' && name[digits] <= 'c') ++digits;
    std::int64_t elements = 0;
    std::from_chars(name.data() + digits, name.data() + name.size(), elements);
    if (elements > 0) least = least == 0 ? elements : std::min(least, elements);
  }
  return static_cast<int>(std::min<std::int64_t>(least * size, kWholeAccess));
}

double share_of_aligned_rate(int bytes) {
  if (bytes >= kWholeAccess) return 1;
  return bytes >= 8 ? 0.75 : bytes >= 4 ? 0.5 : 1.0 / 3;
}

std::int64_t padded_extent(std::int64_t extent, int element_bytes) {
  auto next = [&](std::int64_t multiple) { return (extent + multiple - 1) / multiple * multiple; };
  const std::int64_t good = next(kGoodMultiple);
  return (good - extent) * 100 <= extent ? good : next(kWholeAccess / element_bytes);
}

std::vector<BadExtent> bad_extents(const Trace& trace, const Attribution& attribution,
                                   DeviceOpId op, int element_bytes) {
  std::vector<BadExtent> bad;
  if (element_bytes == 0) return bad;
  for (const std::int64_t extent : extents_of(trace, attribution, op))
    if (extent > 1 && extent * element_bytes % kWholeAccess != 0)
      bad.push_back({extent, padded_extent(extent, element_bytes)});
  std::ranges::sort(bad, std::greater{}, &BadExtent::extent);
  const auto same = [](const BadExtent& a, const BadExtent& b) { return a.extent == b.extent; };
  bad.erase(std::unique(bad.begin(), bad.end(), same), bad.end());
  return bad;
}

}  // namespace headway::analyzer
