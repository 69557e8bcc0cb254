// SPDX-License-Identifier: MIT
#include "kernels/bias_activation/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

std::string name_of(const char* gelu, const char* relu, Activation activation,
                    NumberFormat format) {
  return kernel_name(activation == Activation::kGelu ? gelu : relu, format);
}

}  // namespace

Launch bias_activation_forward(const Limits& limits, Activation activation, NumberFormat format,
                               std::int64_t rows, std::int64_t columns, const void* x,
                               const float* bias, void* y) {
  require_flat("bias_activation_forward", format, 1, x, y);
  require_flat("bias_activation_forward", NumberFormat::kFloat32, 1, bias);
  const ColumnPlan plan = plan_columns(limits, rows, columns, all_packed(x, bias, y));
  return make_launch("bias_activation",
                     name_of("bias_gelu_forward", "bias_relu_forward", activation, format),
                     plan.grid, kColumnThreads,
                     BiasActivationParameters{plan.tiles, x, bias, nullptr, y, nullptr});
}

Launches bias_activation_backward(const Limits& limits, Activation activation, NumberFormat format,
                                  std::int64_t rows, std::int64_t columns, const void* x,
                                  const float* bias, const void* dy, void* dx, float* dbias,
                                  float* scratch) {
  require_flat("bias_activation_backward", format, 1, x, dy, dx);
  require_flat("bias_activation_backward", NumberFormat::kFloat32, 1, bias, dbias, scratch);
  const ColumnPlan plan = plan_columns(limits, rows, columns, all_packed(x, bias, dy, dx));
  return {make_launch("bias_activation",
                      name_of("bias_gelu_backward", "bias_relu_backward", activation, format),
                      plan.grid, kColumnThreads,
                      BiasActivationParameters{plan.tiles, x, bias, dy, dx, scratch}),
          finish_columns(limits, columns, plan.grid.y, scratch, dbias)};
}

}  // namespace headway::kernels::cuda
