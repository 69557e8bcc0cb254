// SPDX-License-Identifier: MIT
#include "tests/targets/fake_cuda/emulator_mma.h"

#include "tests/targets/fake_cuda/emulator.h"

namespace emulator {
namespace {

constexpr unsigned kM = 16;
constexpr unsigned kN = 8;
constexpr unsigned kK = 16;

// One warp runs at a time, and none changes places with another within an instruction.
float g_a[kM][kK];
float g_b[kK][kN];
const unsigned char* g_rows[32];

}  // namespace

Entry entry_of_a(unsigned lane, unsigned i) {
  const bool lower = i < 2 || (i >= 4 && i < 6);
  return {lane / 4 + (lower ? 0 : 8), lane % 4 * 2 + i % 2 + (i < 4 ? 0 : 8)};
}
Entry entry_of_b(unsigned lane, unsigned i) {
  return {lane % 4 * 2 + i % 2 + (i < 2 ? 0 : 8), lane / 4};
}
Entry entry_of_d(unsigned lane, unsigned i) {
  return {lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + i % 2};
}

void multiply_add(float (&d)[4], const float (&a)[8], const float (&b)[4]) {
  const unsigned self = lane();
  for (unsigned i = 0; i < 8; ++i) {
    const Entry at = entry_of_a(self, i);
    g_a[at.row][at.column] = a[i];
  }
  for (unsigned i = 0; i < 4; ++i) {
    const Entry at = entry_of_b(self, i);
    g_b[at.row][at.column] = b[i];
  }
  wait_for_warp();
  for (unsigned i = 0; i < 4; ++i) {
    const Entry at = entry_of_d(self, i);
    for (unsigned k = 0; k < kK; ++k) d[i] += g_a[at.row][k] * g_b[k][at.column];
  }
  wait_for_warp();  // the next one's operands are not for this one
}

void load_matrices(std::uint32_t (&to)[4], const void* row, bool transposed) {
  constexpr std::uintptr_t kAlignment = 16;
  if (reinterpret_cast<std::uintptr_t>(row) % kAlignment != 0)
    stop("a row of a matrix does not begin at a multiple of 16 bytes");
  const unsigned self = lane();
  g_rows[self] = static_cast<const unsigned char*>(row);
  wait_for_warp();
  for (unsigned matrix = 0; matrix < 4; ++matrix)
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned along = self % 4 * 2 + half;
      const unsigned from = transposed ? along : self / 4;
      const unsigned at = transposed ? self / 4 : along;
      std::memcpy(reinterpret_cast<unsigned char*>(&to[matrix]) + 2 * half,
                  g_rows[8 * matrix + from] + 2 * at, 2);
    }
  wait_for_warp();
}

}  // namespace emulator
