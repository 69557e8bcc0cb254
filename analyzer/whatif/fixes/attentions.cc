// SPDX-License-Identifier: MIT
#include "analyzer/whatif/fixes/attentions.h"

#include <algorithm>
#include <string_view>

#include "analyzer/evidence/attention_kernels.h"

namespace headway::analyzer {
namespace {

using namespace trace;

class Finder {
 public:
  explicit Finder(const Predictor& predictor) : predictor_(predictor) {}

  std::vector<Attention> all() const {
    const Trace& trace = predictor_.trace();
    std::vector<Attention> result;
    for (std::uint32_t s = 0; s < trace.streams.size(); ++s) {
      std::vector<DeviceOpId> ops;
      for (DeviceOpId op : trace.ops_of_stream[StreamId{s}])
        if (trace.device_ops.kind[op.value] != DeviceOpKind::kMemset) ops.push_back(op);
      std::size_t taken = 0;
      for (std::size_t i = 0; i < ops.size(); ++i) {
        if (family(ops[i]) != KernelFamily::kSoftmax) continue;
        std::size_t first = product_beside(predictor_.kernels(), ops, i, -1);
        std::size_t last = product_beside(predictor_.kernels(), ops, i, +1);
        if (first == ops.size() || last == ops.size() || first < taken) continue;
        const bool backward = phase(ops[i]) == Phase::kBackward;
        if (backward && first > taken && is_product(ops[first - 1])) --first;
        if (backward && last + 1 < ops.size() && is_product(ops[last + 1])) ++last;
        while (first > taken && moves(ops[first - 1]) && phase(ops[first - 1]) == phase(ops[i]))
          --first;
        while (last + 1 < ops.size() && moves(ops[last + 1]) &&
               phase(ops[last + 1]) == phase(ops[i]))
          ++last;
        taken = last + 1;
        Attention one{{ops.begin() + static_cast<std::ptrdiff_t>(first),
                       ops.begin() + static_cast<std::ptrdiff_t>(taken)},
                      backward,
                      false};
        one.masked = std::ranges::any_of(one.kernels, [&](DeviceOpId op) { return masks(op); });
        result.push_back(std::move(one));
        i = last;
      }
    }
    return result;
  }

 private:
  KernelFamily family(DeviceOpId op) const { return predictor_.kernels().of(op).family; }
  Phase phase(DeviceOpId op) const { return predictor_.analysis().attribution.phase_of[op.value]; }
  bool is_product(DeviceOpId op) const { return family(op) == KernelFamily::kGemm; }
  bool moves(DeviceOpId op) const {
    return family(op) == KernelFamily::kLayoutTransform || family(op) == KernelFamily::kFillCopy;
  }
  bool masks(DeviceOpId op) const {
    const std::string_view name =
        predictor_.trace().strings[predictor_.trace().device_ops.name[op.value]];
    return name.find("mask") != std::string_view::npos &&
           name.find("padding") == std::string_view::npos;
  }

  const Predictor& predictor_;
};

}  // namespace

std::vector<Attention> find_attentions(const Predictor& predictor) {
  return Finder(predictor).all();
}

}  // namespace headway::analyzer
