// SPDX-License-Identifier: MIT
// What attention's launcher chooses and refuses, and how the tiles lie in shared memory.
#include <doctest/doctest.h>

#include <set>

#include "common/error.h"
#include "kernels/attention/launch.h"
#include "kernels/attention/launch_tiles.h"

namespace headway::kernels::cuda {
namespace {

constexpr Limits kLimits;
using enum NumberFormat;

/// Addresses that are never followed.
struct Arrays {
  void* qkv = reinterpret_cast<void*>(4096);
  void* y = qkv;
  void* dy = qkv;
  void* dqkv = qkv;
  float* lse = static_cast<float*>(qkv);
};

std::string forward(const AttentionShape& s, NumberFormat format, const Arrays& a = {},
                    AttentionVariant variant = AttentionVariant::kBest) {
  try {
    return attention_forward(kLimits, format, s, a.qkv, a.y, a.lse, variant).kernel;
  } catch (const Error& error) {
    return error.what();
  }
}
std::string backward(const AttentionShape& s, NumberFormat format, const Arrays& a = {},
                     AttentionVariant variant = AttentionVariant::kBest) {
  try {
    std::string names;
    for (const Launch& launch :
         attention_backward(kLimits, format, s, a.qkv, a.y, a.lse, a.dy, a.dqkv, a.lse, variant))
      names += (names.empty() ? "" : " ") + launch.kernel;
    return names;
  } catch (const Error& error) {
    return error.what();
  }
}
AttentionShape of_depth(std::int64_t depth) {
  return {2, 256, 3, depth, 256, 0};
}

/// Which 16 of the 128 bytes that all banks have a piece lies in.
template <int kDepth>
int banks(int row, int piece) {
  return place_in_tile<kDepth>(row, piece) * 2 % 128 / 16;
}
template <int kDepth>
void check_tile() {
  CAPTURE(kDepth);
  constexpr int kPieces = kDepth / 8, kRows = 128;
  std::set<int> places;
  for (int row = 0; row < kRows; ++row)
    for (int piece = 0; piece < kPieces; ++piece) {
      const int place = place_in_tile<kDepth>(row, piece);
      CHECK(place % 8 == 0);
      CHECK(place / kDepth == row);
      places.insert(place);
      // One step of the kernels' address arithmetic: two pieces further is an exclusive or.
      if (piece + 2 < kPieces && piece < 2)
        for (int step = 0; piece + 2 * step < kPieces; ++step)
          CHECK(place_in_tile<kDepth>(row, piece + 2 * step) * 2 == ((place * 2) ^ (32 * step)));
      CHECK(place_in_tile<kDepth>(row + 16, piece) == place + 16 * kDepth);
    }
  CHECK(places.size() == kRows * kPieces);
  // ldmatrix reads a piece of eight rows at once.
  for (int row = 0; row < kRows; row += 8)
    for (int piece = 0; piece < kPieces; ++piece) {
      std::set<int> of;
      for (int r = 0; r < 8; ++r) of.insert(banks<kDepth>(row + r, piece));
      CHECK(of.size() == 8);
    }
  // Eight lanes write pieces that follow each other.
  for (int first = 0; first < kRows * kPieces; first += 8) {
    std::set<int> of;
    for (int i = first; i < first + 8; ++i) of.insert(banks<kDepth>(i / kPieces, i % kPieces));
    CHECK(of.size() == 8);
  }
}

}  // namespace

TEST_CASE("attention takes the tensor cores where they can, by depth and format") {
  CHECK(forward(of_depth(16), kFloat16) == "attention_mma_forward_d16_f16");
  CHECK(forward(of_depth(64), kBfloat16) == "attention_mma_forward_d64_bf16");
  CHECK(backward(of_depth(128), kBfloat16) ==
        "attention_mma_dq_d128_bf16 attention_mma_dkv_d128_bf16");
  CHECK(backward(of_depth(32), kFloat16) == "attention_mma_dq_d32_f16 attention_mma_dkv_d32_f16");
  const Launch launch = attention_forward(kLimits, kFloat16, {2, 300, 3, 64, 300, 0}, Arrays{}.qkv,
                                          Arrays{}.y, Arrays{}.lse);
  CHECK(std::string(launch.image) == "attention_mma_forward");
  CHECK(launch.grid.x == 2 * 3 * 3);  // 300 queries in blocks of 128
  CHECK(launch.threads == 128);
  CHECK(launch.shared_bytes == (128 + 2 * 64) * 64 * 2);
}

TEST_CASE("attention goes to the general units in FP32, at other depths, and off 16 bytes") {
  CHECK(forward(of_depth(64), kFloat32) == "attention_forward_d64_f32");
  for (std::int64_t depth : {1, 8, 24, 33, 48, 80, 96, 127}) {
    CAPTURE(depth);
    CHECK(forward(of_depth(depth), kFloat16).starts_with("attention_forward_d"));
    CHECK(backward(of_depth(depth), kBfloat16).starts_with("attention_dq_d"));
  }
  void* odd = reinterpret_cast<void*>(4096 + 8);
  for (void* Arrays::*one : {&Arrays::qkv, &Arrays::y, &Arrays::dy, &Arrays::dqkv}) {
    Arrays a;
    a.*one = odd;
    const bool of_forward = one == &Arrays::qkv || one == &Arrays::y;
    CHECK(forward(of_depth(64), kFloat16, a) ==
          (of_forward ? "attention_forward_d64_f16" : "attention_mma_forward_d64_f16"));
    CHECK(backward(of_depth(64), kFloat16, a) == "attention_dq_d64_f16 attention_dkv_d64_f16");
  }
  Arrays a;
  a.lse = reinterpret_cast<float*>(4096 + 4);  // one float at a time: any address of a float
  CHECK(forward(of_depth(64), kFloat16, a) == "attention_mma_forward_d64_f16");
  CHECK(forward(of_depth(64), kFloat16, {}, AttentionVariant::kGeneral) ==
        "attention_forward_d64_f16");
  CHECK(backward(of_depth(64), kFloat16, {}, AttentionVariant::kGeneral) ==
        "attention_dq_d64_f16 attention_dkv_d64_f16");
}

TEST_CASE("attention refuses tensor cores where they cannot, and what no variant can") {
  const std::string cannot =
      "Kernel attention: tensor cores need FP16 or BF16, heads of 16, 32, 64 or 128 and addresses "
      "that are multiples of 16.";
  const auto variant = AttentionVariant::kTensorCores;
  CHECK(forward(of_depth(64), kFloat32, {}, variant) == cannot);
  CHECK(forward(of_depth(48), kFloat16, {}, variant) == cannot);
  Arrays odd;
  odd.dy = reinterpret_cast<void*>(4096 + 2);
  CHECK(backward(of_depth(64), kFloat16, odd, variant) == cannot);
  CHECK(forward(of_depth(129), kFloat16) == "Kernel attention: heads are deeper than 128.");
  CHECK(forward({1, std::int64_t{1} << 30, 1, 16, 16, 0}, kFloat16) ==
        "Kernel attention: the sequence is longer than 2^30.");
  CHECK(forward({1, 10, 1, 16, 4, 0}, kFloat16) ==
        "Kernel attention: the window does not divide the length, or the shift is not within it.");
  CHECK(forward({std::int64_t{1} << 31, 16, 1, 16, 16, 0}, kFloat16) ==
        "Kernel attention: more than 2^31 blocks.");
}

TEST_CASE("tiles of attention meet no bank twice, and steps in them are what the kernels assume") {
  check_tile<16>();
  check_tile<32>();
  check_tile<64>();
  check_tile<128>();
}

TEST_CASE("a block of attention has the shared memory that every GPU since sm_80 gives") {
  for (int depth : {16, 32, 64, 128})
    for (AttentionPass pass :
         {AttentionPass::kForward, AttentionPass::kQueries, AttentionPass::kKeys}) {
      CAPTURE(depth);
      const AttentionTiles by = attention_tiles(pass, depth);
      CHECK(by.warp_rows % 16 == 0);
      CHECK(by.columns % 16 == 0);
      CHECK(attention_shared_bytes(pass, depth) <= 99 << 10);
      CHECK(attention_shared_bytes(pass, depth) % 256 ==
            0);  // tiles stay where the swizzle wants them
    }
}

}  // namespace headway::kernels::cuda
