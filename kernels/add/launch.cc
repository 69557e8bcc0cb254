// SPDX-License-Identifier: MIT
#include "kernels/add/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {

Launch add(const Limits& limits, NumberFormat format, std::int64_t count, const void* a,
           const void* b, void* c, AddVariant variant) {
  require_flat("add", format, count, a, b, c);
  const bool packed = variant == AddVariant::kPacked && all_packed(a, b, c);
  return make_launch("add", kernel_name("add", format), flat_grid(limits, count, packed),
                     kFlatThreads, AddParameters{count, a, b, c, packed});
}

}  // namespace headway::kernels::cuda
