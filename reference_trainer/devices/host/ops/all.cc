// SPDX-License-Identifier: MIT
#include <array>

#include "reference_trainer/devices/host/ops/host_ops.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer {

std::span<const HostOp> host_ops() {
  using namespace host;
  static const std::array kAll = {
      HostOp{&ops::kConv2d, add_conv2d},
      HostOp{&ops::kConv2dBackwardData, add_conv2d_backward_data},
      HostOp{&ops::kConv2dBackwardWeights, add_conv2d_backward_weights},
      HostOp{&ops::kBatchNorm, add_batch_norm},
      HostOp{&ops::kBatchNormBackward, add_batch_norm_backward},
      HostOp{&ops::kBnRelu, add_batch_norm},
      HostOp{&ops::kBnReluBackward, add_batch_norm_backward},
      HostOp{&ops::kBnAddRelu, add_batch_norm},
      HostOp{&ops::kBnAddReluBackward, add_batch_norm_backward},
      HostOp{&ops::kRelu, add_relu},
      HostOp{&ops::kReluBackward, add_relu_backward},
      HostOp{&ops::kAdd, add_add},
      HostOp{&ops::kPool, add_pool},
      HostOp{&ops::kPoolBackward, add_pool_backward},
      HostOp{&ops::kLinear, add_linear},
      HostOp{&ops::kLinearBackwardData, add_linear_backward_data},
      HostOp{&ops::kLinearBackwardWeights, add_linear_backward_weights},
      HostOp{&ops::kSoftmaxCrossEntropy, add_softmax_cross_entropy},
      HostOp{&ops::kSoftmaxCrossEntropyBackward, add_softmax_cross_entropy_backward},
      HostOp{&ops::kSgdMomentum, add_sgd_momentum},
      HostOp{&ops::kSgdMomentumMultiTensor, add_sgd_momentum},
  };
  return kAll;
}

}  // namespace headway::trainer
