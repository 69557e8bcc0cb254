// SPDX-License-Identifier: MIT
#include "kernels/relu/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {

Launch relu_forward(const Limits& limits, NumberFormat format, std::int64_t count, const void* x,
                    void* y) {
  require_flat("relu_forward", format, count, x, y);
  const bool packed = all_packed(x, y);
  return make_launch("relu", kernel_name("relu_forward", format), flat_grid(limits, count, packed),
                     kFlatThreads, ReluParameters{count, x, nullptr, y, packed});
}

Launch relu_backward(const Limits& limits, NumberFormat format, std::int64_t count, const void* y,
                     const void* dy, void* dx) {
  require_flat("relu_backward", format, count, y, dy, dx);
  const bool packed = all_packed(y, dy, dx);
  return make_launch("relu", kernel_name("relu_backward", format), flat_grid(limits, count, packed),
                     kFlatThreads, ReluParameters{count, y, dy, dx, packed});
}

}  // namespace headway::kernels::cuda
