// SPDX-License-Identifier: MIT
#include "kernels/sgd_momentum/launch.h"

namespace headway::kernels::cuda {

Launches sgd_momentum(const Limits& limits, NumberFormat format, const TableStep& by,
                      std::span<const TableTensor> tensors) {
  return table_launches(limits, "sgd_momentum", kernel_name("sgd_momentum", format), by, tensors);
}

}  // namespace headway::kernels::cuda
