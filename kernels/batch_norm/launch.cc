// SPDX-License-Identifier: MIT
#include "kernels/batch_norm/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

constexpr int kStatistics = 3;  // count, mean, squares

std::string name_of(const char* what, Epilogue epilogue, NumberFormat format) {
  const char* prefix = epilogue == Epilogue::kNone   ? "bn_"
                       : epilogue == Epilogue::kRelu ? "bn_relu_"
                                                     : "bn_add_relu_";
  return kernel_name((std::string(prefix) + what).c_str(), format);
}

void require_channels(const char* kernel, std::initializer_list<const float*> arrays) {
  for (const float* array : arrays) require_aligned(array, 4, kernel, "an array of channels");
}

/// Whether the arrays may be loaded 16 bytes at a time; arrays that an epilogue does not use are
/// null.
bool packed(const BatchNormArrays& a) {
  return all_packed(a.x, a.residual, a.dy, a.y, a.dx, a.dresidual, a.gamma, a.beta, a.saved_mean,
                    a.saved_rstd, a.running_mean, a.running_variance, a.dgamma, a.dbeta);
}

}  // namespace

std::int64_t batch_norm_scratch_floats(const Limits& limits, BatchNormShape shape) {
  return plan_columns(limits, shape.rows, shape.channels).scratch_floats(kStatistics);
}

Launches batch_norm_forward(const Limits& limits, NumberFormat format, BatchNormShape shape,
                            Epilogue epilogue, float epsilon, float momentum,
                            const BatchNormArrays& a) {
  constexpr const char* kName = "batch_norm_forward";
  require_flat(kName, format, shape.elements(), a.x, a.y);
  require_channels(kName, {a.gamma, a.beta, a.running_mean, a.running_variance, a.saved_mean,
                           a.saved_rstd, a.scratch});
  if (epilogue == Epilogue::kAddRelu) {
    require_flat(kName, format, 1, a.residual);
    require(a.mask != nullptr, kName, "the mask is null");
  }
  const ColumnPlan plan = plan_columns(limits, shape.rows, shape.channels, packed(a));
  const BatchNormParameters by{plan.tiles, a, nullptr, epsilon};
  return {make_launch("batch_norm", kernel_name("bn_statistics", format), plan.grid, kColumnThreads,
                      by),
          make_launch("batch_norm", "bn_finish",
                      {blocks_for(shape.channels, kColumnThreads, limits)}, kColumnThreads,
                      BatchNormFinishParameters{a, shape.rows, shape.channels,
                                                static_cast<int>(plan.grid.y), epsilon, momentum}),
          make_launch("batch_norm", name_of("normalise", epilogue, format), plan.grid,
                      kColumnThreads, by)};
}

Launches batch_norm_inference(const Limits& limits, NumberFormat format, BatchNormShape shape,
                              Epilogue epilogue, float epsilon, const BatchNormArrays& arrays) {
  constexpr const char* kName = "batch_norm_inference";
  BatchNormArrays a = arrays;
  require_flat(kName, format, shape.elements(), a.x, a.y);
  require_channels(kName, {a.gamma, a.beta, a.running_mean, a.running_variance});
  if (epilogue == Epilogue::kAddRelu) require_flat(kName, format, 1, a.residual);
  a.mask = nullptr;
  a.saved_mean = a.running_mean;
  const ColumnPlan plan = plan_columns(limits, shape.rows, shape.channels, packed(a));
  return {make_launch("batch_norm", name_of("normalise", epilogue, format), plan.grid,
                      kColumnThreads,
                      BatchNormParameters{plan.tiles, a, a.running_variance, epsilon})};
}

Launches batch_norm_backward(const Limits& limits, NumberFormat format, BatchNormShape shape,
                             Epilogue epilogue, const BatchNormArrays& a) {
  constexpr const char* kName = "batch_norm_backward";
  require_flat(kName, format, shape.elements(), a.x, a.dy, a.dx);
  require_channels(kName, {a.gamma, a.saved_mean, a.saved_rstd, a.dgamma, a.dbeta, a.scratch});
  if (epilogue == Epilogue::kRelu) require_channels(kName, {a.beta});
  if (epilogue == Epilogue::kAddRelu) {
    require_flat(kName, format, 1, a.dresidual);
    require(a.mask != nullptr, kName, "the mask is null");
  }
  const ColumnPlan plan = plan_columns(limits, shape.rows, shape.channels, packed(a));
  const BatchNormParameters by{plan.tiles, a, nullptr, 0};
  return {make_launch("batch_norm", name_of("backward_sums", epilogue, format), plan.grid,
                      kColumnThreads, by),
          finish_columns(limits, shape.channels, plan.grid.y, a.scratch, a.dbeta, a.dgamma),
          make_launch("batch_norm", name_of("backward_apply", epilogue, format), plan.grid,
                      kColumnThreads, by)};
}

}  // namespace headway::kernels::cuda
