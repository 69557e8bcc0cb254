// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/cudnn/descriptor.h"
#include "kernels/number_format.h"

namespace headway::cuda {

/// y[n,p,q,k] = sum over r,s,c of x[n, p·stride + r - padding, q·stride + s - padding, c] · w[k,r,s,c]
/// and its gradients with respect to x and w. Images are NHWC and filters K,R,S,C (square); with
/// channels first, NCHW and K,C,R,S. All are dense.
struct ConvolutionShape {
  std::int64_t images = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::int64_t filters = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;     ///< the same on all sides
  bool channels_first = false;  ///< NCHW
  bool int8 = false;            ///< x and w have 8 bits, y their exact 32-bit sums; forward only

  constexpr std::int64_t out(std::int64_t extent) const {
    return (extent + 2 * padding - kernel) / stride + 1;
  }
  constexpr std::int64_t x_elements() const { return images * height * width * channels; }
  constexpr std::int64_t w_elements() const { return filters * kernel * kernel * channels; }
  constexpr std::int64_t y_elements() const { return images * out(height) * out(width) * filters; }
};
enum class ConvolutionForm {
  kForward,          ///< y from x and w
  kBackwardData,     ///< dx from dy and w
  kBackwardWeights,  ///< dw from dy and x
};
/// The arrays of one call: the form reads two of x, w, y and writes the third. Addresses are
/// multiples of 16 bytes.
struct ConvolutionArrays {
  void* x = nullptr;  ///< or dx
  void* w = nullptr;  ///< or dw
  void* y = nullptr;  ///< or dy
  void* workspace = nullptr;
};

/// How cuDNN computes one convolution. It is chosen once, by cuDNN's heuristics (mode A, then its
/// fallback): the first engine that supports the shape within the allowed workspace. Sums are FP32.
/// kFloat32 excludes engines that round the operands; kTf32 allows tensor cores but no narrower
/// operands; arrays are FP32 in both.
class ConvolutionPlan {
 public:
  /// Takes milliseconds to seconds (a library may compile). Throws Error (internal) when no engine
  /// supports it, with the shape and cuDNN's last message.
  ConvolutionPlan(const Cudnn& library, ConvolutionForm form, kernels::NumberFormat format,
                  const ConvolutionShape& shape,
                  std::int64_t most_workspace_bytes = kMostWorkspaceBytes);

  static constexpr std::int64_t kMostWorkspaceBytes = std::int64_t{1} << 30;
  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  /// How many engines were rejected before this one: unsuitable, with too large a workspace, or
  /// refused by cuDNN.
  int passed_over() const { return passed_over_; }

  /// The plan's arguments for these addresses; keep the result as long as the plan runs with it.
  CudnnDescriptor bind(const ConvolutionArrays& arrays) const;
  /// Queues the convolution. Does not allocate or search.
  void run(CUstream stream, const CudnnDescriptor& bound) const;

 private:
  bool fits(const CudnnDescriptor& configuration, kernels::NumberFormat format) const;
  bool take(const CudnnDescriptor& configuration, std::int64_t most_workspace_bytes);
  bool choose(const CudnnDescriptor& graph, cudnn::HeuristicsMode mode,
              kernels::NumberFormat format, std::int64_t most_workspace_bytes);

  const Cudnn& library_;
  bool int8_;
  CudnnDescriptor configuration_;
  CudnnDescriptor plan_;
  std::int64_t workspace_bytes_ = 0;
  int passed_over_ = 0;
  std::string last_refusal_;
};

}  // namespace headway::cuda
