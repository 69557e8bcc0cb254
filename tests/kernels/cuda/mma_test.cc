// SPDX-License-Identifier: MIT
// The emulated tensor core by itself, against plain products and against the tables of the PTX ISA (9.2, sections 9.7.14.5.8 and
// 9.7.14.5.15), which are written down here a second time: where kernels and emulation agree on a layout, it must be
// that of the GPU.
#include <doctest/doctest.h>

#include <random>
#include <set>

#include "tests/targets/fake_cuda/emulator.h"
// After the emulator.
#include "kernels/cuda/mma.cuh"
#include "tests/targets/fake_cuda/run_kernel.h"

namespace headway::kernels::cuda {
namespace {

/// Row and column of element i of a lane's fragment, in the section's words.
struct Place {
  unsigned row, column;
  auto operator<=>(const Place&) const = default;
};
Place isa_a(unsigned lane, unsigned i) {
  const unsigned group = lane >> 2, thread_in_group = lane % 4;
  const unsigned row = i < 2 || (4 <= i && i < 6) ? group : group + 8;
  const unsigned column = i < 4 ? thread_in_group * 2 + (i & 1) : thread_in_group * 2 + (i & 1) + 8;
  return {row, column};
}
Place isa_b(unsigned lane, unsigned i) {
  const unsigned group = lane >> 2, thread_in_group = lane % 4;
  return {i < 2 ? thread_in_group * 2 + (i & 1) : thread_in_group * 2 + (i & 1) + 8, group};
}
Place isa_d(unsigned lane, unsigned i) {
  const unsigned group = lane >> 2, thread_in_group = lane % 4;
  return {i < 2 ? group : group + 8, thread_in_group * 2 + (i & 1)};
}

struct Matrices {
  const void* a;  // [16][16]
  const void* b;  // [16][8], or where its columns are loaded as rows [8][16]
  float* d;       // [16][8], added to
};

template <class T>
std::uint32_t pair_of(const void* matrix, unsigned columns, Place low, Place high) {
  const auto* values = static_cast<const T*>(matrix);
  return packed_pair<T>(to_float(values[low.row * columns + low.column]),
                        to_float(values[high.row * columns + high.column]));
}

/// Fragments put together element by element.
template <class T>
void multiply_by_table(const Matrices& m) {
  const unsigned lane = threadIdx.x;
  std::uint32_t a[4], b[2];
  float d[4];
  for (unsigned i = 0; i < 4; ++i)
    a[i] = pair_of<T>(m.a, 16, isa_a(lane, 2 * i), isa_a(lane, 2 * i + 1));
  for (unsigned i = 0; i < 2; ++i)
    b[i] = pair_of<T>(m.b, 8, isa_b(lane, 2 * i), isa_b(lane, 2 * i + 1));
  for (unsigned i = 0; i < 4; ++i) d[i] = m.d[isa_d(lane, i).row * 8 + isa_d(lane, i).column];
  multiply_add<T>(d, a, b[0], b[1]);
  for (unsigned i = 0; i < 4; ++i) m.d[isa_d(lane, i).row * 8 + isa_d(lane, i).column] = d[i];
}

/// The same from shared memory, a plain and b turned, as attention's kernels load them.
template <class T>
void multiply_loaded(const Matrices& m) {
  const unsigned lane = threadIdx.x;
  T* const a = reinterpret_cast<T*>(launched_shared());
  T* const b = a + 256;
  for (unsigned i = lane; i < 256; i += 32) a[i] = static_cast<const T*>(m.a)[i];
  for (unsigned i = lane; i < 128; i += 32) b[i] = static_cast<const T*>(m.b)[i];
  __syncwarp();
  std::uint32_t left[4], right[4];
  load_matrices(left, shared_address(a + lane % 16 * 16 + lane / 16 * 8));
  load_transposed(right, shared_address(b + lane % 16 * 8));
  float d[4] = {};
  multiply_add<T>(d, left, right[0], right[1]);
  for (unsigned i = 0; i < 4; ++i) m.d[isa_d(lane, i).row * 8 + isa_d(lane, i).column] += d[i];
}

struct Loads {
  const std::uint16_t* rows;  // [32][8]
  std::uint32_t* plain;       // [32][4]
  std::uint32_t* turned;
};

struct Copies {
  const float* from;  // [4], of each group one
  float* seen;        // [6]
};

HEADWAY_KERNEL(table_f16, 32, Matrices) {
  multiply_by_table<__half>(a);
}
HEADWAY_KERNEL(table_bf16, 32, Matrices) {
  multiply_by_table<__nv_bfloat16>(a);
}
HEADWAY_KERNEL(loaded_f16, 32, Matrices) {
  multiply_loaded<__half>(a);
}
HEADWAY_KERNEL(loaded_bf16, 32, Matrices) {
  multiply_loaded<__nv_bfloat16>(a);
}
/// Row r of the four matrices lies at 5r mod 32: lanes say where, in any order.
HEADWAY_KERNEL(loads, 32, Loads) {
  const unsigned lane = threadIdx.x;
  auto* const shared = reinterpret_cast<std::uint16_t*>(launched_shared());
  std::uint16_t* const own = shared + 5 * lane % 32 * 8;
  for (unsigned i = 0; i < 8; ++i) own[i] = a.rows[8 * lane + i];
  __syncwarp();
  std::uint32_t plain[4], turned[4];
  load_matrices(plain, shared_address(own));
  load_transposed(turned, shared_address(own));
  for (unsigned i = 0; i < 4; ++i) {
    a.plain[4 * lane + i] = plain[i];
    a.turned[4 * lane + i] = turned[i];
  }
}
HEADWAY_KERNEL(copies, 32, Copies) {
  auto* const shared = reinterpret_cast<float*>(launched_shared());
  if (threadIdx.x == 0) {
    shared[0] = 5;
    copy_async4(shared, a.from, true);
    close_copies();
    copy_async4(shared + 1, a.from + 1, true);
    close_copies();
    copy_async4(shared + 2, a.from + 2, false);
    close_copies();
    a.seen[0] = shared[0];
    wait_for_copies<2>();
    a.seen[1] = shared[0];
    a.seen[2] = shared[1];
    wait_for_copies<0>();
    a.seen[3] = shared[1];
    a.seen[4] = shared[2];
    copy_async4(shared + 3, a.from + 3, true);  // in no group
    wait_for_copies<0>();
    a.seen[5] = shared[3];
  }
}

template <class Parameters>
void run(const char* kernel, const Parameters& parameters) {
  emulator::run_kernel(*emulator::find_kernel(kernel), {}, 32, 1024, &parameters);
}

template <class T>
void check_products(const char* table, const char* loaded) {
  std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  std::vector<T> a(256), b(128);
  for (T& value : a) value = from_float<T>(normal(engine));
  for (T& value : b) value = from_float<T>(normal(engine));
  std::vector<float> by_table(128, 0.5F), by_loads(128, 0.5F);
  run(table, Matrices{a.data(), b.data(), by_table.data()});
  run(loaded, Matrices{a.data(), b.data(), by_loads.data()});
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      double sum = 0.5;
      for (unsigned k = 0; k < 16; ++k)
        sum += double{to_float(a[row * 16 + k])} * double{to_float(b[k * 8 + column])};
      CHECK(by_table[row * 8 + column] == doctest::Approx(sum).epsilon(1e-5));
      CHECK(by_loads[row * 8 + column] == doctest::Approx(sum).epsilon(1e-5));
    }
}

}  // namespace

TEST_CASE("fragments of the emulated tensor core lie as the tables of the PTX ISA say") {
  std::set<Place> a, b, d;
  for (unsigned lane = 0; lane < 32; ++lane) {
    CAPTURE(lane);
    for (unsigned i = 0; i < 8; ++i) {
      const emulator::Entry at = emulator::entry_of_a(lane, i);
      CHECK(isa_a(lane, i) == Place{at.row, at.column});
      a.insert(isa_a(lane, i));
    }
    for (unsigned i = 0; i < 4; ++i) {
      const emulator::Entry at = emulator::entry_of_b(lane, i), to = emulator::entry_of_d(lane, i);
      CHECK(isa_b(lane, i) == Place{at.row, at.column});
      CHECK(isa_d(lane, i) == Place{to.row, to.column});
      b.insert(isa_b(lane, i));
      d.insert(isa_d(lane, i));
    }
  }
  CHECK(a.size() == 16 * 16);
  CHECK(b.size() == 16 * 8);
  CHECK(d.size() == 16 * 8);
  // Corners, as the figures draw them.
  CHECK(isa_a(0, 2) == Place{8, 0});
  CHECK(isa_a(0, 4) == Place{0, 8});
  CHECK(isa_a(31, 7) == Place{15, 15});
  CHECK(isa_b(3, 0) == Place{6, 0});
  CHECK(isa_b(28, 2) == Place{8, 7});
  CHECK(isa_d(4, 1) == Place{1, 1});
  CHECK(isa_d(31, 2) == Place{15, 6});
}

TEST_CASE("the emulated tensor core multiplies, from registers and from shared memory") {
  check_products<__half>("table_f16", "loaded_f16");
  check_products<__nv_bfloat16>("table_bf16", "loaded_bf16");
}

TEST_CASE("matrices are loaded from where the lanes point, plain and turned") {
  std::vector<std::uint16_t> rows(256);
  for (std::uint16_t i = 0; i < 256; ++i) rows[i] = i;  // 64 matrix + 8 row + column
  std::vector<std::uint32_t> plain(128), turned(128);
  run("loads", Loads{rows.data(), plain.data(), turned.data()});
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned matrix = 0; matrix < 4; ++matrix) {
      const unsigned first = 64 * matrix + 8 * (lane / 4) + lane % 4 * 2;
      CHECK(plain[4 * lane + matrix] == (first | (first + 1) << 16));
      const unsigned upper = 64 * matrix + 8 * (lane % 4 * 2) + lane / 4;
      CHECK(turned[4 * lane + matrix] == (upper | (upper + 8) << 16));
    }
}

TEST_CASE("an emulated copy arrives when its group is waited for, and not before") {
  const float from[] = {1, 2, 3, 4};
  float seen[6] = {};
  run("copies", Copies{from, seen});
  CHECK(std::isnan(seen[0]));  // what was there is gone
  CHECK(seen[1] == 1);
  CHECK(std::isnan(seen[2]));
  CHECK(seen[3] == 2);
  CHECK(seen[4] == 0);
  CHECK(std::isnan(seen[5]));
}

TEST_CASE("the first of a pair lies in the low half") {
  CHECK(packed_pair<__half>(1, -2) == 0xC0003C00U);
  CHECK(packed_pair<__nv_bfloat16>(1, -2) == 0xC0003F80U);
}

}  // namespace headway::kernels::cuda
