// SPDX-License-Identifier: MIT
#include "kernels/gradient_list/launch.h"

#include "kernels/add/launch.h"

namespace headway::kernels::cuda {
namespace {

Launches send(const Limits& limits, const char* kernel, const GradientStep& by,
              std::span<const GradientEntry> entries) {
  for (const GradientEntry& entry : entries) {
    require(entry.count >= 0, kernel, "a tensor's count is negative");
    require(entry.format != NumberFormat::kTf32, kernel, "no array in memory has the format TF32");
    if (entry.count == 0) continue;
    require_aligned(entry.values, static_cast<std::size_t>(bits_of(entry.format)) / 8, kernel,
                    "a gradient");
    if (!(by.first && by.last)) require_aligned(entry.flat, 4, kernel, "the array of all");
  }
  return launch_tables(limits, "gradient_list", kernel, by, entries,
                       [](const GradientEntry& entry) {
                         return (entry.count + kGradientChunk - 1) / kGradientChunk;
                       });
}

/// Entries for the tensors, one after the other in `flat`.
std::vector<GradientEntry> entries_of(std::span<const GradientTensor> tensors, float* flat) {
  std::vector<GradientEntry> entries;
  entries.reserve(tensors.size());
  for (const GradientTensor& tensor : tensors) {
    require(!tensor.mask, "gradient_list", "arrays of GPUs have no padding to mask");
    entries.push_back({tensor.values, flat, tensor.count, 0, tensor.format});
    if (flat) flat += tensor.count;
  }
  return entries;
}

}  // namespace

Launches pack(const Limits& limits, std::span<const GradientEntry> entries) {
  return send(limits, "pack_gradients", {}, entries);
}
Launches unpack(const Limits& limits, std::span<const GradientEntry> entries, float factor) {
  return send(limits, "unpack_gradients", {factor}, entries);
}

Launches launches(const Limits& limits, const PackGradients& op) {
  return pack(limits, entries_of(op.tensors, op.flat));
}
Launches launches(const Limits& limits, const UnpackGradients& op) {
  return unpack(limits, entries_of(op.tensors, const_cast<float*>(op.flat)), op.factor);
}
Launches launches(const Limits& limits, const AddUpGradients& op) {
  return send(limits, "add_up_gradients", {op.factor, op.first, op.last},
              entries_of(op.tensors, op.sums));
}
Launches launches(const Limits& limits, const AddVector& op) {
  if (op.count == 0) return {};
  return {add(limits, NumberFormat::kFloat32, op.count, op.to, op.from, op.to)};
}

}  // namespace headway::kernels::cuda
