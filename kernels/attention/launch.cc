// SPDX-License-Identifier: MIT
#include "kernels/attention/launch.h"

#include "kernels/attention/launch_tiles.h"
#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

constexpr const char* kName = "attention";
constexpr std::int64_t kQueries = 8;                      // of a general block, one per warp
constexpr std::int64_t kLongest = std::int64_t{1} << 30;  // kernels count positions in 32 bits

AttentionParameters parameters(const AttentionShape& s) {
  require(s.batch > 0 && s.length > 0 && s.heads > 0 && s.depth > 0 && s.window > 0, kName,
          "every extent must be positive");
  require(s.length % s.window == 0 && s.shift >= 0 && s.shift < s.window, kName,
          "the window does not divide the length, or the shift is not within it");
  require(s.depth <= 128, kName, "heads are deeper than 128");
  require(s.length < kLongest, kName, "the sequence is longer than 2^30");
  AttentionParameters by{};
  by.batch = s.batch, by.length = s.length, by.heads = s.heads, by.depth = s.depth;
  by.window = s.window, by.shift = s.shift;
  return by;
}

/// Whether to use the tensor core variant; fails where it is requested but not possible.
template <class... Pointers>
bool on_tensor_cores(AttentionVariant variant, NumberFormat format, std::int64_t depth,
                     Pointers... addresses) {
  const bool can = bits_of(format) == 16 &&
                   (depth == 16 || depth == 32 || depth == 64 || depth == 128) &&
                   all_packed(addresses...);
  require(can || variant != AttentionVariant::kTensorCores, kName,
          "tensor cores need FP16 or BF16, heads of 16, 32, 64 or 128 and addresses that are "
          "multiples of 16");
  return can && variant != AttentionVariant::kGeneral;
}

Grid grid(const AttentionShape& s, std::int64_t rows) {
  const std::int64_t blocks = s.groups() * ((s.window + rows - 1) / rows);
  require(blocks < std::int64_t{1} << 31, kName, "more than 2^31 blocks");
  return {static_cast<unsigned>(blocks)};
}

Launch general(const char* what, NumberFormat format, const AttentionShape& s,
               const AttentionParameters& by) {
  const char* depth = s.depth <= 32 ? "_d32" : s.depth <= 64 ? "_d64" : "_d128";
  return make_launch(kName, kernel_name((std::string(what) + depth).c_str(), format),
                     grid(s, kQueries), kFlatThreads, by);
}

Launch tensor_cores(AttentionPass pass, NumberFormat format, const AttentionShape& s,
                    const AttentionParameters& by) {
  const bool forward = pass == AttentionPass::kForward;
  const char* what = forward ? "forward" : pass == AttentionPass::kQueries ? "dq" : "dkv";
  const std::string base = "attention_mma_" + std::string(what) + "_d" + std::to_string(s.depth);
  const int depth = static_cast<int>(s.depth);
  return make_launch(forward ? "attention_mma_forward" : "attention_mma_backward",
                     kernel_name(base.c_str(), format),
                     grid(s, attention_tiles(pass, depth).rows()), kAttentionThreads, by,
                     static_cast<unsigned>(attention_shared_bytes(pass, depth)));
}

}  // namespace

Launch attention_forward(const Limits&, NumberFormat format, const AttentionShape& shape,
                         const void* qkv, void* y, float* lse, AttentionVariant variant) {
  AttentionParameters by = parameters(shape);
  require_flat(kName, format, 1, qkv, y);
  require_flat(kName, NumberFormat::kFloat32, 1, lse);
  by.qkv = qkv, by.y = y, by.lse = lse;
  if (on_tensor_cores(variant, format, shape.depth, qkv, y))
    return tensor_cores(AttentionPass::kForward, format, shape, by);
  return general("attention_forward", format, shape, by);
}

Launches attention_backward(const Limits&, NumberFormat format, const AttentionShape& shape,
                            const void* qkv, const void* y, const float* lse, const void* dy,
                            void* dqkv, float* shares, AttentionVariant variant) {
  AttentionParameters by = parameters(shape);
  require_flat(kName, format, 1, qkv, y, dy, dqkv);
  require_flat(kName, NumberFormat::kFloat32, 1, lse, shares);
  by.qkv = qkv, by.y = y, by.dy = dy, by.dqkv = dqkv;
  by.lse = const_cast<float*>(lse), by.shares = shares;
  if (on_tensor_cores(variant, format, shape.depth, qkv, y, dy, dqkv))
    return {tensor_cores(AttentionPass::kQueries, format, shape, by),
            tensor_cores(AttentionPass::kKeys, format, shape, by)};
  return {general("attention_dq", format, shape, by), general("attention_dkv", format, shape, by)};
}

}  // namespace headway::kernels::cuda
