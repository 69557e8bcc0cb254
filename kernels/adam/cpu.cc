// SPDX-License-Identifier: MIT
#include "kernels/adam/op.h"

#include <array>
#include <cmath>

#include "kernels/cast/op.h"
#include "kernels/loops/loops.h"
#include "kernels/tensor_list.h"

namespace headway::kernels {

AdamStep at_step(AdamStep by, std::int64_t t) {
  by.correction1 = static_cast<float>(1 / (1 - std::pow(by.beta1, t)));
  by.correction2 = static_cast<float>(1 / (1 - std::pow(by.beta2, t)));
  return by;
}

void adam_multi_tensor(std::span<const AdamTensor> tensors, const AdamStep& by) {
  for_each_piece(tensors, [&](const AdamTensor& t, std::int64_t from, std::int64_t to) {
    loops().adam_update(to - from, t.trained() + from, t.mean + from, t.variance + from,
                        t.gradient + from, by);
    if (t.master) loops().round_to(t.format, to - from, t.master + from, t.parameter + from);
  });
}

void adam_pass(int part, const AdamTensor& t, const AdamStep& by, float* scratch) {
  const std::array<AdamTensor, 1> one = {t};
  for_each_piece(
      std::span<const AdamTensor>(one), [&](const AdamTensor&, std::int64_t from, std::int64_t to) {
        const std::int64_t n = to - from;
        const float* g = t.gradient + from;
        float* p = t.trained() + from;
        switch (part) {
          case 0:
            return loops().sgd_scale(n, by.beta1, t.mean + from);
          case 1:  // m += (1 - beta1)·g', by a loop that subtracts
            return loops().sgd_apply(n, g, (by.beta1 - 1) * by.gradient_scale, t.mean + from);
          case 2:
            return loops().sgd_scale(n, by.beta2, t.variance + from);
          case 3:
            loops().row_binary(RowOp::kMultiply, n, g, g, scratch + from);
            return loops().sgd_apply(n, scratch + from,
                                     (by.beta2 - 1) * by.gradient_scale * by.gradient_scale,
                                     t.variance + from);
          case 4:
            return loops().adam_size(n, t.variance + from, by, scratch + from);
          case 5:
            return loops().sgd_scale(n, 1 - by.rate * by.decay, p);
          default:
            loops().adam_apply(n, t.mean + from, scratch + from, by, p);
            if (t.master) loops().round_to(t.format, n, p, t.parameter + from);
        }
      });
}

Work adam_pass_work(int part, std::int64_t count) {
  constexpr std::array<Work, kAdamPasses> kPerElement = {
      {{1, 8}, {2, 12}, {1, 8}, {3, 12}, {3, 8}, {1, 8}, {3, 16}}};
  const Work each = kPerElement[static_cast<std::size_t>(part)];
  return {each.flops * count, each.bytes * count};
}

namespace reference {

void adam(const AdamTensor& t, const AdamStep& by) {
  for (std::int64_t i = 0; i < t.count; ++i) {
    const double g = static_cast<double>(t.gradient[i]) * by.gradient_scale;
    const double m = by.beta1 * static_cast<double>(t.mean[i]) + (1 - double{by.beta1}) * g;
    const double v = by.beta2 * static_cast<double>(t.variance[i]) + (1 - double{by.beta2}) * g * g;
    t.mean[i] = static_cast<float>(m);
    t.variance[i] = static_cast<float>(v);
    float& p = t.trained()[i];
    const double size = std::sqrt(v * by.correction2) + by.epsilon;
    p = static_cast<float>(p * (1 - double{by.rate} * by.decay) -
                           by.rate * m * by.correction1 / size);
    if (t.master) t.parameter[i] = reference::round_to(t.format, p);
  }
}

}  // namespace reference
}  // namespace headway::kernels
