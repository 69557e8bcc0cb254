// SPDX-License-Identifier: MIT
#include "kernels/cuda/attention.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

constexpr const char* kName = "attention";
constexpr std::int64_t kQueries = 8;  // of a block, one per warp

AttentionParameters parameters(const AttentionShape& s) {
  require(s.batch > 0 && s.length > 0 && s.heads > 0 && s.depth > 0 && s.window > 0, kName,
          "every extent must be positive");
  require(s.length % s.window == 0 && s.shift >= 0 && s.shift < s.window, kName,
          "the window does not divide the length, or the shift is not within it");
  require(s.depth <= 128, kName, "heads are deeper than 128");
  AttentionParameters by{};
  by.batch = s.batch, by.length = s.length, by.heads = s.heads, by.depth = s.depth;
  by.window = s.window, by.shift = s.shift;
  return by;
}

Launch launch(const char* what, NumberFormat format, const AttentionShape& s,
              const AttentionParameters& by) {
  const char* depth = s.depth <= 32 ? "_d32" : s.depth <= 64 ? "_d64" : "_d128";
  const std::int64_t blocks = s.groups() * ((s.window + kQueries - 1) / kQueries);
  require(blocks < std::int64_t{1} << 31, kName, "more than 2^31 blocks");
  return make_launch(kName, kernel_name((std::string(what) + depth).c_str(), format),
                     {static_cast<unsigned>(blocks)}, kFlatThreads, by);
}

}  // namespace

Launch attention_forward(const Limits&, NumberFormat format, const AttentionShape& shape,
                         const void* qkv, void* y, float* lse) {
  AttentionParameters by = parameters(shape);
  require_flat(kName, format, 1, qkv, y);
  require_flat(kName, NumberFormat::kFloat32, 1, lse);
  by.qkv = qkv, by.y = y, by.lse = lse;
  return launch("attention_forward", format, shape, by);
}

Launches attention_backward(const Limits&, NumberFormat format, const AttentionShape& shape,
                            const void* qkv, const void* y, const float* lse, const void* dy,
                            void* dqkv, float* shares) {
  AttentionParameters by = parameters(shape);
  require_flat(kName, format, 1, qkv, y, dy, dqkv);
  require_flat(kName, NumberFormat::kFloat32, 1, lse, shares);
  by.qkv = qkv, by.y = y, by.dy = dy, by.dqkv = dqkv;
  by.lse = const_cast<float*>(lse), by.shares = shares;
  return {launch("attention_dq", format, shape, by), launch("attention_dkv", format, shape, by)};
}

}  // namespace headway::kernels::cuda
