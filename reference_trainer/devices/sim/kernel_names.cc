// SPDX-License-Identifier: MIT
// Kernel names as seen in recordings of the libraries (docs/design/0024-kernel-families.md).
#include "reference_trainer/devices/sim/kernel_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "reference_trainer/ops/op.h"

namespace headway::trainer::sim {
namespace {

/// Generation of the GPU: major · 10 + minor of its compute capability.
int architecture(const GpuModel& gpu) {
  struct Row {
    std::string_view begins;
    int architecture;
  };
  static constexpr auto kRows = std::to_array<Row>({{"v100", 70},
                                                    {"t4", 75},
                                                    {"a100", 80},
                                                    {"a10", 86},
                                                    {"h", 90},
                                                    {"b", 100},
                                                    {"l", 89},
                                                    {"rtx-4090", 89}});
  const auto row =
      std::ranges::find_if(kRows, [&](const Row& r) { return gpu.id.starts_with(r.begins); });
  return row == kRows.end() ? 80 : row->architecture;
}

/// How a product reads its operands: "t" or "n" for each.
std::string_view orientation(const Node& node) {
  if (node.op == &ops::kLinearBackwardData) return "nn";
  if (node.op == &ops::kLinearBackwardWeights || node.op == &ops::kMatmulBackwardWeights)
    return "nt";
  return "tn";
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(c - 'a' + 'A');
  return result;
}

/// 8-bit products on tensor cores; Volta has none.
std::string int8_product_name(int gpu, const KernelName& by) {
  const char* tile = by.large ? "128x128" : "64x64";
  if (gpu >= 90)
    return fmt::format(
        "sm90_xmma_gemm_i8i8_i8i32_f32_tn_n_tilesize{}x128_warpgroupsize1x1x1_execute_segment_k_"
        "off_"
        "kernel__5x_cublas",
        tile);
  if (gpu >= 80) return fmt::format("ampere_int8_i16832gemm_int8_{}_ldg16_stages_64x3_tn", tile);
  return fmt::format("turing_int8_i8816gemm_int8_{}_ldg16_tn", tile);
}

std::string int8_convolution_name(int gpu, const KernelName& by) {
  const char* tile = by.large ? "128x128" : "64x64";
  if (gpu >= 90)
    return fmt::format(
        "sm90_xmma_fprop_implicit_gemm_i8i8_i8i32_f32_nhwckrsc_nhwc_tilesize{}x128_"
        "warpgroupsize1x1x1_g1_execute_segment_k_off_kernel__5x_cudnn",
        tile);
  if (gpu >= 80)
    return fmt::format(
        "sm80_xmma_fprop_implicit_gemm_i8i8_i8i32_f32_nhwckrsc_nhwc_tilesize{}x64_stage3_"
        "warpsize2x2x1_g1_tensor16x8x32_execute_kernel__5x_cudnn",
        tile);
  return fmt::format("turing_int8_i8816cudnn_int8_{}_ldg16_relu_interior_nt_v1", tile);
}

std::string product_name(int gpu, const Node& node, const KernelName& by) {
  const std::string_view tn = orientation(node);
  if (!by.tensor_cores && by.operands != "f32")
    return fmt::format("cutlass_{}_simt_{}_sgemm_128x64_8x2_{}_align1", gpu, by.operands, tn);
  const char* tile = by.large ? "128x128" : "64x64";
  if (by.operands == "f32") {
    if (gpu < 90) return fmt::format("{}_sgemm_{}_{}", gpu < 80 ? "volta" : "ampere", tile, tn);
    return fmt::format(
        "sm80_xmma_gemm_f32f32_f32f32_f32_{}_n_tilesize{}x8_stage3_warpsize2x2x1_ffma_aligna4_"
        "alignc4_execute_kernel__5x_cublas",
        tn, tile);
  }
  // Kernels of newer generations load whole blocks by address and need 16 bytes: cuBLAS otherwise
  // falls back to CUTLASS's kernels.
  if (gpu >= 80 && by.access_bytes < 16)
    return by.operands == "tf32"
               ? fmt::format("cutlass_80_tensorop_s1688gemm_{}_32x3_{}_align{}", tile, tn,
                             by.access_bytes / 4)
               : fmt::format("cutlass_80_tensorop_{0}_s16816gemm_{0}_{1}_32x3_{2}_align{3}",
                             by.operands, tile, tn, by.access_bytes / 2);
  if (gpu >= 90) {
    const char letter = by.operands == "tf32" ? 's' : by.operands == "f16" ? 'h' : 't';
    return fmt::format("nvjet_{}{}s{}_{}_64x{}_2x1_v_bz_{}T", gpu == 100 ? "sm100_" : "", letter,
                       letter, by.large ? "128x256" : "64x64", by.large ? 4 : 8, upper(tn));
  }
  if (by.operands == "tf32")
    return fmt::format("cutlass_80_tensorop_s1688gemm_{}_16x4_{}_align4", tile, tn);
  const char* type = by.operands == "f16" ? "fp16" : "bf16";
  const char* family = gpu == 70 ? "volta" : gpu == 75 ? "turing" : "ampere";
  const char* shape = gpu == 70 ? "s884" : gpu == 75 ? "s1688" : "s16816";
  return fmt::format("{0}_{1}_{2}gemm_{1}_{3}_ldg8_f2f_{4}{5}", family, type, shape, tile,
                     gpu < 80 ? "" : "stages_32x5_", tn);
}

std::string convolution_name(int gpu, const Node& node, const KernelName& by) {
  const bool data = node.op == &ops::kConv2dBackwardData;
  const bool weights = node.op == &ops::kConv2dBackwardWeights;
  const char* pass = data ? "dgrad" : weights ? "wgrad" : "fprop";
  if (!by.tensor_cores && by.operands != "f32")
    return fmt::format("cutlass_{}_simt_{}_{}_optimized_128x64_8x2_nhwc_align1", gpu, by.operands,
                       pass);
  const char* tile = by.large ? "128x128" : "64x64";
  if (gpu < 80) {
    const char* form = data      ? "stridedB_interior_nn"
                       : weights ? "stridedB_splitK_interior_nn"
                                 : "relu_interior_nn";
    if (by.operands == "f32") return fmt::format("volta_scudnn_{}_{}_v1", tile, form);
    return fmt::format("{}_fp16_{}cudnn_fp16_{}_{}_v1", gpu == 70 ? "volta" : "turing",
                       gpu == 70 ? "s884" : "s1688", tile, form);
  }
  const bool half = by.operands == "f16" || by.operands == "bf16";
  const std::string types = half ? fmt::format("{0}{0}_{0}f32_f32", by.operands)
                                 : fmt::format("{0}f32_{0}f32_f32", by.operands);
  if (gpu >= 90 && half)
    return fmt::format(
        "sm90_xmma_{}_implicit_gemm_{}_nhwckrsc_nhwc_tilesize{}x64_warpgroupsize1x1x1_g1_execute_"
        "segment_k_off_kernel__5x_cudnn",
        pass, types, tile);
  const char* unit = by.operands == "f32" ? "ffma_aligna4_alignc4"
                     : half               ? "tensor16x8x16"
                                          : "tensor16x8x8";
  return fmt::format(
      "sm80_xmma_{}_implicit_gemm_{}_nhwckrsc_nhwc_tilesize{}x{}_stage3_warpsize2x2x1_g1_{}_"
      "execute_kernel__5x_cudnn",
      pass, types, tile, half ? 32 : 16, unit);
}

/// FlashAttention multiplies halves on Ampere and later; other attention kernels are CUTLASS's.
std::string attention_name(int gpu, const Node& node, const KernelName& by) {
  const bool backward = node.op == &ops::kAttentionBackward;
  const bool half = by.operands == "f16" || by.operands == "bf16";
  const char* tile = by.large ? "64x128" : "64x64";
  if (gpu < 80 || !half)
    return fmt::format("fmha_cutlass{}_{}_aligned_{}_{}_sm{}", backward ? 'B' : 'F',
                       by.operands == "tf32" ? "f32" : by.operands, tile, backward ? "k64" : "rf",
                       gpu < 80 ? gpu : 80);
  const char* type = by.operands == "f16" ? "half_t" : "bfloat16_t";
  const char* sizes = by.large ? "64, 128, 64, 4" : "64, 64, 64, 4";
  if (backward)
    return fmt::format(
        "void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<{}, "
        "cutlass::{}>>",
        sizes, type);
  return fmt::format("void flash_fwd_kernel<Flash_fwd_kernel_traits<{}, cutlass::{}>>", sizes,
                     type);
}

std::string_view word(kernels::RowOp op) {
  using enum kernels::RowOp;
  switch (op) {
    case kAdd:
      return "add";
    case kSubtract:
      return "sub";
    case kMultiply:
    case kScale:
    case kSpread:
      return "mul";
    case kRelu:
      return "relu";
    case kReluBackward:
      return "threshold_backward";
    case kGelu:
      return "gelu";
    case kGeluBackward:
      return "gelu_backward";
    case kTanh:
      return "tanh";
    case kTanhBackward:
      return "tanh_backward";
    case kDropout:
      return "native_dropout";
    case kRsqrt:
      return "rsqrt";
    case kRsqrtBackward:
      return "pow";
    case kRowMean:
      return "mean";
    case kRowSum:
      return "sum";
    case kRound:
      return "_to_copy";
  }
  return "map";
}

/// Names a cluster by its ops, each once, as inductor names generated kernels: pointwise, or with a
/// sum along rows.
std::string cluster_name(const kernels::RowProgram& program) {
  std::vector<std::string_view> words;
  for (const kernels::RowInstruction& each : program.instructions)
    if (const auto one = word(each.op); std::ranges::find(words, one) == words.end())
      words.push_back(one);
  std::ranges::sort(words);
  std::string name = program.is_flat() ? "triton_poi_fused" : "triton_per_fused";
  for (std::string_view one : words) name += fmt::format("_{}", one);
  return fmt::format("{}_{}", name, program.instructions.size());
}

bool is_one_of(const Node& node, std::initializer_list<const OpDefinition*> ops) {
  return std::ranges::find(ops, node.op) != ops.end();
}

}  // namespace

std::string kernel_name(const GpuModel& gpu, const Node& node, const KernelName& by) {
  const int generation = architecture(gpu);
  const bool product = is_one_of(
      node, {&ops::kLinear, &ops::kLinearBackwardData, &ops::kLinearBackwardWeights, &ops::kMatmul,
             &ops::kMatmulBackwardWeights, &ops::kBatchedMatmul, &ops::kLinearFused});
  const bool convolution = is_one_of(node, {&ops::kConv2d, &ops::kConv2dBackwardData,
                                            &ops::kConv2dBackwardWeights, &ops::kConv2dFused});
  if (by.operands == "i8" && by.tensor_cores)
    return convolution ? int8_convolution_name(generation, by) : int8_product_name(generation, by);
  if (by.part.empty() && !by.operands.empty() && by.operands != "i8") {
    if (product) return product_name(generation, node, by);
    if (convolution) return convolution_name(generation, node, by);
    if (node.op == &ops::kCachedAttention && (by.operands == "f16" || by.operands == "bf16"))
      return fmt::format(
          "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<64, 64, 128, 4, cutlass::{}>>",
          by.operands == "f16" ? "half_t" : "bfloat16_t");
    if (is_one_of(node, {&ops::kAttention, &ops::kAttentionBackward}))
      return attention_name(generation, node, by);
  }
  if (const auto* program = std::get_if<kernels::RowProgram>(&node.attributes))
    return cluster_name(*program);
  return fmt::format("sim::{}{}{}{}{}", node.op->type, by.part.empty() ? "" : "/", by.part,
                     by.operands.empty() ? "" : "_", by.operands);
}

}  // namespace headway::trainer::sim
