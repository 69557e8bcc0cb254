// SPDX-License-Identifier: MIT
#include "kernels/loops/loops.h"

namespace headway::kernels {

namespace baseline {
extern const Loops kTable;
}
#ifdef HEADWAY_X86_LOOPS
namespace avx2 {
extern const Loops kTable;
}
namespace avx512 {
extern const Loops kTable;
}
#endif

const Loops& loops() {
#ifdef HEADWAY_X86_LOOPS
  static const Loops& chosen = [&]() -> const Loops& {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
      return avx512::kTable;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::kTable;
    return baseline::kTable;
  }();
  return chosen;
#else
  return baseline::kTable;
#endif
}

}  // namespace headway::kernels
