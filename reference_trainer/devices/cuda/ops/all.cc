// SPDX-License-Identifier: MIT
#include <array>

#include "reference_trainer/devices/cuda/cuda_ops.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer {

std::span<const CudaOp> cuda_ops() {
  using namespace cuda_device;
  static const std::array kAll = {
      CudaOp{&ops::kRelu, add_relu},
      CudaOp{&ops::kReluBackward, add_relu_backward},
      CudaOp{&ops::kAdd, add_add},
      CudaOp{&ops::kLinear, add_linear},
      CudaOp{&ops::kLinearBackwardData, add_linear_backward_data},
      CudaOp{&ops::kLinearBackwardWeights, add_linear_backward_weights},
      CudaOp{&ops::kMatmul, add_matmul},
      CudaOp{&ops::kMatmulBackwardWeights, add_matmul_backward_weights},
      CudaOp{&ops::kBatchedMatmul, add_batched_matmul},
      CudaOp{&ops::kSoftmaxCrossEntropy, add_softmax_cross_entropy},
      CudaOp{&ops::kSoftmaxCrossEntropyBackward, add_softmax_cross_entropy_backward},
      CudaOp{&ops::kLogSoftmax, add_log_softmax},
      CudaOp{&ops::kLogSoftmaxBackward, add_log_softmax_backward},
      CudaOp{&ops::kNllLoss, add_nll_loss},
      CudaOp{&ops::kNllLossBackward, add_nll_loss_backward},
      CudaOp{&ops::kBiasGelu, add_bias_gelu},
      CudaOp{&ops::kBiasGeluBackward, add_bias_gelu_backward},
      CudaOp{&ops::kColumnSum, add_column_sum},
      CudaOp{&ops::kEmbedding, add_embedding},
      CudaOp{&ops::kEmbeddingBackward, add_embedding_backward},
      CudaOp{&ops::kLayerNorm, add_layer_norm},
      CudaOp{&ops::kLayerNormBackward, add_layer_norm_backward},
      CudaOp{&ops::kAddLayerNorm, add_layer_norm},
      CudaOp{&ops::kAddLayerNormBackward, add_layer_norm_backward},
      CudaOp{&ops::kAttention, add_attention},
      CudaOp{&ops::kAttentionBackward, add_attention_backward},
      CudaOp{&ops::kSplitHeads, add_split_heads},
      CudaOp{&ops::kSplitHeadsBackward, add_split_heads_backward},
      CudaOp{&ops::kMergeHeads, add_merge_heads},
      CudaOp{&ops::kMergeHeadsBackward, add_merge_heads_backward},
      CudaOp{&ops::kAttentionMask, add_attention_mask},
      CudaOp{&ops::kRoll, add_roll},
      CudaOp{&ops::kSoftmax, add_softmax},
      CudaOp{&ops::kSoftmaxBackward, add_softmax_backward},
      CudaOp{&ops::kTanh, add_row_program},
      CudaOp{&ops::kTanhBackward, add_row_program},
      CudaOp{&ops::kBiasAdd, add_row_program},
      CudaOp{&ops::kSub, add_row_program},
      CudaOp{&ops::kMul, add_row_program},
      CudaOp{&ops::kScale, add_row_program},
      CudaOp{&ops::kGelu, add_row_program},
      CudaOp{&ops::kGeluBackward, add_row_program},
      CudaOp{&ops::kDropout, add_row_program},
      CudaOp{&ops::kDropoutBackward, add_row_program},
      CudaOp{&ops::kRsqrt, add_row_program},
      CudaOp{&ops::kRsqrtBackward, add_row_program},
      CudaOp{&ops::kRowMean, add_row_program},
      CudaOp{&ops::kRowSum, add_row_program},
      CudaOp{&ops::kSpread, add_row_program},
      CudaOp{&ops::kCast, add_cast},
      CudaOp{&ops::kTf32Round, add_tf32_round},
      CudaOp{&ops::kCluster, add_row_program},
      CudaOp{&ops::kSgdMomentum, add_sgd_momentum},
      CudaOp{&ops::kSgdMomentumMultiTensor, add_sgd_momentum},
      CudaOp{&ops::kAdam, add_adam},
      CudaOp{&ops::kAdamMultiTensor, add_adam},
      CudaOp{&ops::kLamb, add_lamb},
      CudaOp{&ops::kLambMultiTensor, add_lamb},
      CudaOp{&ops::kLars, add_lars},
      CudaOp{&ops::kLarsMultiTensor, add_lars},
      CudaOp{&ops::kUnscale, add_unscale},
      CudaOp{&ops::kUnscaleMultiTensor, add_unscale},
      CudaOp{&ops::kUpdateScale, add_update_scale},
  };
  return kAll;
}

}  // namespace headway::trainer
