// SPDX-License-Identifier: MIT
#include "kernels/max_pool/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

Launch pool(const Limits& limits, const char* kernel, NumberFormat format,
            const MaxPoolShape& shape, std::int64_t pixels, const void* from, void* to,
            const std::uint8_t* place) {
  require(shape.kernel >= 1 && shape.kernel <= 15, kernel, "the window is not 1 to 15 wide");
  require(shape.stride >= 1 && shape.padding >= 0 && shape.padding < shape.kernel, kernel,
          "stride or padding is out of range");
  require(shape.results() > 0, kernel, "there is no result");
  require_flat(kernel, format, 1, from, to);
  require(place != nullptr, kernel, "the places are null");
  const bool packed = shape.channels % kFlatPack == 0 && all_packed(from, to) &&
                      reinterpret_cast<std::uintptr_t>(place) % 8 == 0;
  const std::int64_t packs = pixels * ((shape.channels + kFlatPack - 1) / kFlatPack);
  return make_launch("max_pool", kernel_name(kernel, format),
                     {blocks_for(packs, kFlatThreads, limits)}, kFlatThreads,
                     MaxPoolParameters{shape, shape.out(shape.height), shape.out(shape.width), from,
                                       to, const_cast<std::uint8_t*>(place), packed});
}

}  // namespace

Launch max_pool_forward(const Limits& limits, NumberFormat format, const MaxPoolShape& shape,
                        const void* x, void* y, std::uint8_t* place) {
  return pool(limits, "max_pool_forward", format, shape,
              shape.images * shape.out(shape.height) * shape.out(shape.width), x, y, place);
}

Launch max_pool_backward(const Limits& limits, NumberFormat format, const MaxPoolShape& shape,
                         const void* dy, const std::uint8_t* place, void* dx) {
  return pool(limits, "max_pool_backward", format, shape, shape.images * shape.height * shape.width,
              dy, dx, place);
}

}  // namespace headway::kernels::cuda
