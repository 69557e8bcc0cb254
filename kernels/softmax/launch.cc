// SPDX-License-Identifier: MIT
#include "kernels/softmax/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

Launch launch(const Limits& limits, const std::string& op, NumberFormat format,
              SoftmaxParameters by) {
  require(by.rows > 0 && by.columns > 0, op.c_str(), "there must be at least one element");
  require_flat(op.c_str(), format, 1, by.first, by.out);
  by.packed = by.columns % kFlatPack == 0 && all_packed(by.first, by.second, by.out);
  const bool warp = by.columns <= 1024;
  const char* rows = warp ? "_warp" : by.columns <= 8192 ? "_block" : "_long";
  return make_launch("softmax", kernel_name((op + rows).c_str(), format),
                     {blocks_for(by.rows, warp ? kFlatThreads / 32 : 1, limits)}, kFlatThreads, by);
}

}  // namespace

Launch softmax_forward(const Limits& limits, NumberFormat format, std::int64_t rows,
                       std::int64_t columns, const void* x, void* y) {
  return launch(limits, "softmax_forward", format, {rows, columns, x, nullptr, y, false});
}
Launch softmax_backward(const Limits& limits, NumberFormat format, std::int64_t rows,
                        std::int64_t columns, const void* y, const void* dy, void* dx) {
  require_flat("softmax_backward", format, 1, dy);
  return launch(limits, "softmax_backward", format, {rows, columns, y, dy, dx, false});
}
Launch log_softmax_forward(const Limits& limits, NumberFormat format, std::int64_t rows,
                           std::int64_t columns, const void* x, void* y) {
  return launch(limits, "log_softmax_forward", format, {rows, columns, x, nullptr, y, false});
}
Launch log_softmax_backward(const Limits& limits, NumberFormat format, std::int64_t rows,
                            std::int64_t columns, const void* y, const void* dy, void* dx) {
  require_flat("log_softmax_backward", format, 1, dy);
  return launch(limits, "log_softmax_backward", format, {rows, columns, y, dy, dx, false});
}

}  // namespace headway::kernels::cuda
