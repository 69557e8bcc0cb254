// SPDX-License-Identifier: MIT
// Fused multiply-adds on twelve independent chains. Two FMA units of latency four need eight in flight; twelve chains and
// two constants fit in sixteen vector registers.
#include <array>

#include "cli/calibrate/host/host.h"
#include "cli/calibrate/host/threads.h"

namespace headway::calibrate {
namespace {

constexpr std::int64_t kRounds = 1'000'000;
constexpr int kChains = 12;

// A macro, because only a function with the target attribute keeps wide vectors whole: the compiler splits them in any
// other one, even if it is always inlined.
#define HEADWAY_MULTIPLY_ADDS(bytes)                                                       \
  typedef float Vector __attribute__((vector_size(bytes)));                                \
  Vector x0 = {1}, x1 = x0, x2 = x0, x3 = x0, x4 = x0, x5 = x0, x6 = x0, x7 = x0, x8 = x0, \
         x9 = x0, xa = x0, xb = x0;                                                        \
  const Vector m = x0 * 0.999F, s = x0 * 0.001F;                                           \
  for (std::int64_t i = 0; i < rounds; ++i) {                                              \
    x0 = x0 * m + s, x1 = x1 * m + s, x2 = x2 * m + s, x3 = x3 * m + s, x4 = x4 * m + s,   \
    x5 = x5 * m + s, x6 = x6 * m + s, x7 = x7 * m + s, x8 = x8 * m + s, x9 = x9 * m + s,   \
    xa = xa * m + s, xb = xb * m + s;                                                      \
    /* Keeps the compiler from merging the twelve equal chains. */                         \
    HEADWAY_OPAQUE(x0, x1, x2, x3);                                                        \
    HEADWAY_OPAQUE(x4, x5, x6, x7);                                                        \
    HEADWAY_OPAQUE(x8, x9, xa, xb);                                                        \
  }                                                                                        \
  const Vector sum = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + xa + xb;            \
  return sum[0]
#if defined(__x86_64__)
#define HEADWAY_OPAQUE(a, b, c, d) asm volatile("" : "+v"(a), "+v"(b), "+v"(c), "+v"(d))

[[gnu::target("avx512f")]] float multiply_adds_512(std::int64_t rounds) {
  HEADWAY_MULTIPLY_ADDS(64);
}
[[gnu::target("avx2,fma")]] float multiply_adds_256(std::int64_t rounds) {
  HEADWAY_MULTIPLY_ADDS(32);
}
#elif defined(__aarch64__)
#define HEADWAY_OPAQUE(a, b, c, d) asm volatile("" : "+w"(a), "+w"(b), "+w"(c), "+w"(d))
#else
#define HEADWAY_OPAQUE(a, b, c, d) asm volatile("" : "+m"(a), "+m"(b), "+m"(c), "+m"(d))
#endif
float multiply_adds_128(std::int64_t rounds) {
  HEADWAY_MULTIPLY_ADDS(16);
}

struct Variant {
  float (*run)(std::int64_t rounds);
  int floats;
};

std::array<Variant, 3> variants() {
  std::array<Variant, 3> all{};
  all[0] = {multiply_adds_128, 4};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all[1] = {multiply_adds_256, 8};
  if (__builtin_cpu_supports("avx512f")) all[2] = {multiply_adds_512, 16};
#endif
  return all;
}

}  // namespace

std::optional<FigureValue> measure_host_fp32(const Effort& effort, int threads) {
  std::optional<FigureValue> best;
  // All widths: the widest is slower where it lowers the clock or the unit splits it in two.
  for (const Variant& variant : variants()) {
    if (!variant.run) continue;
    std::vector<double> seconds = time_together(
        threads, effort.repetitions + 1, [](int) {},
        [&](int) {
          const float kept = variant.run(kRounds);
          asm volatile("" : : "m"(kept));
        });
    std::vector<double> rates;
    for (std::size_t i = 1; i < seconds.size(); ++i)
      rates.push_back(2.0 * kChains * kRounds * variant.floats * threads / seconds[i]);
    std::optional<FigureValue> value = figure_of(std::move(rates));
    if (!best || value->p50 > best->p50) best = value;
  }
  return best;
}

}  // namespace headway::calibrate
