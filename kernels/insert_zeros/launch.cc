// SPDX-License-Identifier: MIT
#include "kernels/insert_zeros/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {

Launch insert_zeros(const Limits& limits, NumberFormat format, const InsertZeros& shape,
                    const void* from, void* to) {
  constexpr const char* kName = "insert_zeros";
  require_flat(kName, format, shape.results(), from, to);
  require(shape.to_height > (shape.height - 1) * shape.stride &&
              shape.to_width > (shape.width - 1) * shape.stride,
          kName, "the result must have room for every element");
  const bool packed = all_packed(from, to) && shape.inner % kFlatPack == 0;
  const InsertZerosParameters by{shape, from, to, packed};
  return make_launch(kName, kernel_name(kName, format), flat_grid(limits, shape.results(), packed),
                     kFlatThreads, by);
}

}  // namespace headway::kernels::cuda
