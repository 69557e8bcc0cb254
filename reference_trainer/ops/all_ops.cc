// SPDX-License-Identifier: MIT
#include <array>

#include "reference_trainer/ops/op.h"

namespace headway::trainer {

std::span<const OpDefinition* const> all_ops() {
  using namespace ops;
  static constexpr std::array kAll = {&kConv2d,
                                      &kConv2dBackwardData,
                                      &kConv2dBackwardWeights,
                                      &kBatchNorm,
                                      &kBatchNormBackward,
                                      &kRelu,
                                      &kReluBackward,
                                      &kAdd,
                                      &kBnRelu,
                                      &kBnReluBackward,
                                      &kBnAddRelu,
                                      &kBnAddReluBackward,
                                      &kPool,
                                      &kPoolBackward,
                                      &kLinear,
                                      &kLinearBackwardData,
                                      &kLinearBackwardWeights,
                                      &kSoftmaxCrossEntropy,
                                      &kSoftmaxCrossEntropyBackward,
                                      &kSgdMomentum,
                                      &kSgdMomentumMultiTensor};
  return kAll;
}

}  // namespace headway::trainer
