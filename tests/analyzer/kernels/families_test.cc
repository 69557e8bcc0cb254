// SPDX-License-Identifier: MIT
#include "analyzer/kernels/families.h"

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <set>

#include "analyzer/kernels/family_table.h"
#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

using enum KernelFamily;
using trace::MathUnit;
using P = Precision;

struct Case {
  std::string_view name;
  KernelFamily family;
};

constexpr auto kFamilyCases = std::to_array<Case>({
    {"batched_matmul block0.attention.scores", kGemm},
    {"attention_mask block0.attention.mask", kElementwise},
    {"attention_backward block0.attention", kAttention},
    {"softmax block0.attention.softmax", kSoftmax},
    {"lstm/gemm encoder0", kGemm},
    {"lstm/lstm_cell encoder0", kRecurrent},
    {"adam/mean scale head.weight", kOptimizer},
    // On a GPU.
    {"attention_mma_forward_d64_bf16", kAttention},
    {"attention_dkv_d32_f32", kAttention},
    {"bn_relu_backward_sums_f16", kFused},
    {"cast_to_f16", kCast},
    {"layout_tiled_16", kLayoutTransform},
    {"row_program_rows", kFused},
    {"adam_f32_large", kOptimizer},
    {"embedding_atomic_f32", kEmbedding},
    {"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", kCommunication},
    {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", kCommunication},
    {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     kCommunication},
    {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)", kCommunication},
    {"all-gather-start", kCommunication},
    {"at::cuda::(anonymous namespace)::spin_kernel(long)", kDelay},
    {"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)128, (int)128>>(T1)", kAttention},
    {"void pytorch_flash::flash_bwd_dot_do_o_kernel<true, Flash_bwd_kernel_traits<64>>(int)",
     kAttention},
    {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x256_4x1x1_kernel0_"
     "0",
     kAttention},
    {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel)",
     kAttention},
    {"fmha_v2_flash_attention_fp16_64_32_S_qkv_64_sm80_kernel_nl", kAttention},
    {"triton_tem_fused_flex_attention_2", kAttention},
    {"triton_tem_fused_addmm_relu_3", kGemm},
    {"gemm_fusion_dot_265", kGemm},
    {"triton_poi_fused_add_cos_sin_0", kFused},
    {"fused_add_gelu_dropout_multiply_f9de033d4bfebf46", kFused},  // of headway-train
    {"elementwise_multiply_a008bb830cf870c0", kElementwise},       // likewise
    {"triton_red_fused_native_layer_norm_1", kFused},
    {"triton_per_fused__softmax_4", kFused},
    {"loop_add_fusion", kFused},
    {"input_reduce_fusion_92", kFused},
    {"fusion_12", kFused},
    {"loop_convert_fusion", kCast},
    {"input_transpose_fusion_3", kLayoutTransform},
    {"void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float>(int)",
     kOptimizer},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespace)::TensorListMetadata<2>, at::native::(anonymous "
     "namespace)::BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>, float>(int)",
     kOptimizer},
    {"split_embedding_backward_codegen_rowwise_adagrad_unweighted_find_long_segments(at::Generic)",
     kEmbedding},
    {"void permute_pooled_embs_kernel<float>(float const*, long const*)", kEmbedding},
    {"void fbgemm_gpu::permute_2D_lengths_kernel<int>(int, int, int const*)", kEmbedding},
    {"void at::native::(anonymous namespace)::embedding_backward_feature_kernel<float>(long)",
     kEmbedding},
    {"void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 128, true, 1>(float)",
     kNormalisation},
    {"void cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>(x)", kNormalisation},
    {"void at::native::batch_norm_backward_kernel<c10::BFloat16, c10::BFloat16, float, int>(x)",
     kNormalisation},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)",
     kNormalisation},
    {"void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<float, float>(long)",
     kNormalisation},
    {"void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(x)", kNormalisation},
    {"void transformer_engine::normalization::ln_fwd_tuned_kernel<x>(y)", kNormalisation},
    {"MIOpenBatchNormFwdTrainSpatial", kNormalisation},
    {"void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float>(x)",
     kLoss},
    {"void at::native::vectorized_elementwise_kernel<8, at::native::mse_kernel_cuda(x)>", kLoss},
    {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>(x)",
     kSoftmax},
    {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float>(x)", kSoftmax},
    {"void RNN_blockPersist_fp_LSTM_HMMA<__half, __half, float, 128>(x)", kRecurrent},
    {"void elemWiseRNNcell<float, float, float, (cudnnRNNMode_t)2>(x)", kRecurrent},
    {"void at::native::(anonymous namespace)::kernel::lstm_cell_forward<float, float, int, 1>(x)",
     kRecurrent},
    {"void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, "
     "(cudnnKernelDataType_t)2>(x)",
     kLayoutTransform},
    {"batched_transpose_16x32_half", kLayoutTransform},
    {"nhwc_to_nchw layer1.0.relu1", kLayoutTransform},
    {"sim::nchw_to_nhwc", kLayoutTransform},
    {"layout_tiled_16", kLayoutTransform},
    {"transpose_CNHW2NCHW_V2_2D_WG_off64", kLayoutTransform},
    {"SubTensorOpWithCastTensor1d", kCast},
    {"SubTensorOpWithScalar1d", kFillCopy},
    {"cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1", kConvolution},
    {"void cudnn::winograd_nonfused::winogradForwardOutput4x4<float, float>(x)", kConvolution},
    {"void cudnn::cnn::reduce_wgrad_nchw_helper<float, float>(void*)", kConvolution},
    {"void cask_cudnn_infer::computeOffsetsKernel<false, false>(x)", kConvolution},
    {"ampere_gcgemm_64x64_nt", kConvolution},
    {"void fft2d_r2c_32x32<float, false, 5u, true>(float2*)", kConvolution},
    {"MIOpenConvUni", kConvolution},
    {"volta_sgemm_64x64_nt", kGemm},
    {"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", kGemm},
    {"void splitKreduce_kernel<32, 16, int, float, float, float, float, true>(x)", kGemm},
    {"void epilogue::impl::globalKernel<float, float, float, true, true>(int)", kGemm},
    {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float>(x)", kGemm},
    {"void magma_sgemmEx_kernel<float, float, float, false, false, 6, 3, 5, 3, 3>(int)", kGemm},
    {"void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(x), "
     "std::array<char*, 2ul>, 4, at::native::memory::LoadWithCast<1>>(int)",
     kCast},
    {"void at::native::vectorized_elementwise_kernel<4, "
     "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}>(int)",
     kCast},
    {"void at::native::elementwise_kernel<128, 4, "
     "at::native::gpu_kernel_impl<at::native::direct_copy_kernel_cuda(x)>>(int)",
     kCast},
    {"void at::native::elementwise_kernel<128, 4, "
     "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(x)>>(int)",
     kLayoutTransform},
    {"void at::native::elementwise_kernel<128, 2, "
     "at::native::gpu_kernel_impl<at::native::(anonymous "
     "namespace)::direct_copy_kernel_cuda(x)>>(int)",
     kLayoutTransform},
    {"void transformer_engine::cast_transpose_kernel<float, __nv_fp8_e4m3>(x)", kCast},
    {"void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, int, int>>(int*)",
     kSort},
    {"void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(x)", kSort},
    {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2, 128>(x)",
     kFillCopy},
    {"void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(int)", kPooling},
    {"void at::native::(anonymous namespace)::adaptive_average_pool<float>(float const*)",
     kPooling},
    {"void at::native::(anonymous namespace)::indexSelectLargeIndex<float, int, unsigned int>(x)",
     kGatherScatter},
    {"void at::native::vectorized_gather_kernel<(int)16, long>(char *, char *)", kGatherScatter},
    {"void at::native::_scatter_gather_elementwise_kernel<128, 4, ReduceAdd>(x)", kGatherScatter},
    {"void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned>(x)",
     kElementwise},
    {"void at::native::(anonymous "
     "namespace)::distribution_elementwise_grid_stride_kernel<float>(x)",
     kRandom},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)",
     kFillCopy},
    {"void (anonymous namespace)::elementwise_kernel_with_index<int, at::native::arange_cuda_out>",
     kFillCopy},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps>>(x)",
     kReduction},
    {"void cub::DeviceScanKernel<cub::AgentScanPolicy<128, 15, int>>(int*)", kReduction},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(x)>",
     kActivation},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
     "namespace)::launch_clamp_scalar(at::TensorIteratorBase&)>(int)",
     kActivation},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)",
     kElementwise},
    {"void cudnn::ops::scalePackedTensor_kernel<float, float>(long, float*, float)", kElementwise},
    {"__amd_rocclr_copyBuffer", kFillCopy},
    {"my_kernel", kUnknown},
    {"", kUnknown},
});

struct MathCase {
  std::string_view name;
  MathUnit unit;
  Precision precision;
  ConvPass pass;
  std::uint16_t architecture;
};

constexpr MathUnit kTensor = MathUnit::kTensor;
constexpr MathUnit kGeneral = MathUnit::kGeneral;
constexpr MathUnit kUnsaid = MathUnit::kUnknown;

constexpr auto kMathCases = std::to_array<MathCase>({
    {"nvjet_tst_192x208_64x4_1x1_h_bz_coopB_bias_TNT", kTensor, P::kBf16, ConvPass::kNone, 90},
    {"attention_mma_dkv_d64_bf16", kTensor, P::kBf16, ConvPass::kNone, 0},
    {"attention_forward_d64_f32", MathUnit::kGeneral, P::kFp32, ConvPass::kNone, 0},
    {"nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT", kTensor, P::kFp16, ConvPass::kNone, 90},
    {"nvjet_qqtst_128x160_128x6_2x1_v_bz_TNT", kTensor, P::kFp8, ConvPass::kNone, 90},
    {"nvjet_sm100_oohsh_128x256_256x5_2x2_2cta_h_bz_Avec16UE4M3_TNT", kTensor, P::kFp4,
     ConvPass::kNone, 100},
    {"nvjet_sss_tf32_128x256_TNT", kTensor, P::kTf32, ConvPass::kNone, 90},
    {"volta_sgemm_128x64_nn", kGeneral, P::kFp32, ConvPass::kNone, 70},
    {"volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", kTensor, P::kFp16, ConvPass::kNone, 70},
    {"volta_h884gemm_64x64_ldg8_nn", kTensor, P::kFp16, ConvPass::kNone, 70},
    {"turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn", kTensor, P::kFp16, ConvPass::kNone, 75},
    {"ampere_sgemm_32x32_sliced1x4_tn", kGeneral, P::kFp32, ConvPass::kNone, 80},
    {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn", kTensor, P::kBf16,
     ConvPass::kNone, 80},
    {"ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x5_nn", kTensor, P::kFp16,
     ConvPass::kNone, 80},
    {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x4_nn_align1>(x)", kTensor,
     P::kTf32, ConvPass::kNone, 80},
    {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn_align2>(x)",
     kTensor, P::kBf16, ConvPass::kNone, 80},
    {"void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn>(x)",
     kTensor, P::kBf16, ConvPass::kNone, 80},
    {"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(x)", kGeneral, P::kFp32,
     ConvPass::kNone, 80},
    {"void cutlass::Kernel2<cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1>(x)", kTensor,
     P::kFp64, ConvPass::kNone, 80},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_stage3_warpsize1x4x1_ffma_aligna4_"
     "alignc4_execute_kernel__5x_cublas",
     kGeneral, P::kFp32, ConvPass::kNone, 80},
    {"sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x16_stage4_warpsize2x2x1_tensor16x8x8_"
     "execute_kernel_cublas",
     kTensor, P::kTf32, ConvPass::kNone, 80},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
     "segment_k_off_kernel__5x_cublas",
     kTensor, P::kBf16, ConvPass::kNone, 90},
    {"sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_"
     "stage4_warpsize2x2x1_g1_tensor16x8x8_alignc4_execute_kernel_cudnn",
     kTensor, P::kTf32, ConvPass::kForward, 80},
    {"sm80_xmma_dgrad_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize64x64x64_stage4_"
     "warpsize1x4x1_g8_tensor16x8x16_execute_kernel__5x_cudnn",
     kTensor, P::kFp16, ConvPass::kDataGradient, 80},
    {"volta_fp16_s884cudnn_fp16_256x64_ldg8_wgrad_idx_exp_interior_nhwc_nt_v1", kTensor, P::kFp16,
     ConvPass::kWeightGradient, 70},
    {"cudnn_infer_volta_scudnn_128x64_stridedB_interior_nn_v1", kGeneral, P::kFp32,
     ConvPass::kDataGradient, 70},
    {"cudnn_train_volta_scudnn_128x128_stridedB_splitK_medium_nn_v1", kGeneral, P::kFp32,
     ConvPass::kWeightGradient, 70},
    {"cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1", kGeneral, P::kFp32, ConvPass::kForward,
     70},
    {"void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int)", kGeneral, P::kFp32,
     ConvPass::kDataGradient, 0},
    {"void wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>(int)", kGeneral, P::kFp32,
     ConvPass::kWeightGradient, 0},
    {"Cijk_Ailk_Bljk_BBS_BH_MT64x64x64_MI16x16x16x1_SN_1LDSB0_APM1", kTensor, P::kBf16,
     ConvPass::kNone, 0},
    {"Cijk_Ailk_Bljk_HHS_BH_MT128x128x16_SE_APM1", kGeneral, P::kFp16, ConvPass::kNone, 0},
    {"Cijk_Alik_Bljk_S_B_Bias_HA_S_SAV_MT16x16x16_SN", kGeneral, P::kFp32, ConvPass::kNone, 0},
    {"Custom_Cijk_Alik_Bljk_F8B8BS_BH_SAB_NTD_MI16x16x1_shortname1_gfx950", kTensor, P::kFp8,
     ConvPass::kNone, 0},
    {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2", kTensor, P::kBf16,
     ConvPass::kForward, 0},
    {"igemm_wrw_gtcx3_nhwc_bf16_bx0_ex1_bt64x64x64_wt32x32x8_ws1x1", kTensor, P::kBf16,
     ConvPass::kWeightGradient, 0},
    {"igemm_bwd_gtcx3_nhwc_fp16_bx0_ex1_bt32x128x32_wt16x64x4_ws1x1", kTensor, P::kFp16,
     ConvPass::kDataGradient, 0},
    {"void splitKreduce_kernel<float, float, float, float, true, false, false>(x)", kUnsaid,
     P::kFp32, ConvPass::kNone, 0},
});

}  // namespace

TEST_CASE("kernels of the common libraries get their family from their names") {
  for (const Case& c : kFamilyCases) {
    CAPTURE(c.name);
    CHECK(family_id(classify_kernel(c.name).family) == family_id(c.family));
  }
}

TEST_CASE("tensor cores, number type, pass and architecture are read off the name") {
  for (const MathCase& c : kMathCases) {
    CAPTURE(c.name);
    KernelTraits traits = classify_kernel(c.name);
    CHECK(traits.math_unit == c.unit);
    CHECK(precision_label(traits.precision) == precision_label(c.precision));
    CHECK(traits.pass == c.pass);
    CHECK(traits.architecture == c.architecture);
  }
}

TEST_CASE("a name says when a data gradient is made for strides, a recurrent kernel persistent") {
  CHECK(
      classify_kernel("void xmma_cudnn::implicit_gemm::strided_dgrad_indexed::kernel<x>").strided);
  CHECK(!classify_kernel("cudnn_infer_volta_scudnn_128x64_stridedB_interior_nn_v1").strided);
  CHECK(classify_kernel("RNN_blockPersist_fp_GRU<float, float, float, 128>").persistent);
  CHECK(!classify_kernel("void elemWiseRNNcell<float, float, float, 2>").persistent);
}

TEST_CASE("at least 97 percent of the kernel time of each public recording is classified") {
  std::ifstream file(HEADWAY_SOURCE_DIR "/tests/data/kernel_names.tsv");
  REQUIRE(file.good());
  struct Time {
    std::int64_t all = 0;
    std::int64_t unclassified = 0;
  };
  std::map<std::string, Time> recordings;
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with('#')) continue;
    std::size_t first = line.find('\t');
    std::size_t second = line.find('\t', first + 1);
    std::int64_t ns = std::stoll(line.substr(first + 1, second - first - 1));
    Time& time = recordings[line.substr(0, first)];
    time.all += ns;
    if (classify_kernel(line.substr(second + 1)).family == kUnknown) time.unclassified += ns;
  }
  CHECK(recordings.size() == 13);
  for (const auto& [name, time] : recordings) {
    CAPTURE(name);
    CHECK(time.unclassified * 100 <= time.all * 3);
  }
}

TEST_CASE("each row of the family table is reachable, lower-case and has a source") {
  std::set<std::string_view> seen;
  for (const FamilyRow& row : family_rows()) {
    CAPTURE(row.pattern);
    CHECK(seen.insert(row.pattern).second);
    CHECK(!row.source.empty());
    // A name made of the pattern itself finds this row, or one of the same family before it.
    std::string name;
    for (char c : row.pattern) {
      CHECK(!(c >= 'A' && c <= 'Z'));
      if (c == '*') name += " x ";
      if (c != '*' && c != '^') name += c;
    }
    CHECK(family_id(classify_kernel(name).family) == family_id(row.family));
  }
}

TEST_CASE("what the recording says of an op goes before what its name says") {
  test::TraceBuilder builder;
  builder.launch(1, 0, 10, 20, 30,
                 {.name = "my_ring", .kind = trace::DeviceOpKind::kCommunication});
  builder.launch(1, 40, 50, 60, 70, {.name = "volta_sgemm_64x64_nt"});
  builder.launch(1, 80, 90, 100, 110,
                 {.name = "gemm", .kind = trace::DeviceOpKind::kCopyHostToDevice});
  trace::Trace trace = builder.load();
  KernelNames names(trace);
  CHECK(names.of(trace::DeviceOpId{0}).family == kCommunication);
  CHECK(names.of(trace::DeviceOpId{1}).family == kGemm);
  CHECK(names.of(trace::DeviceOpId{2}).family == kUnknown);
  CHECK(names.of(trace.device_ops.name[1]).math_unit == MathUnit::kGeneral);
  trace.device_ops.math_unit[1] = MathUnit::kTensor;
  CHECK(names.of(trace::DeviceOpId{1}).math_unit == MathUnit::kTensor);
}

}  // namespace headway::analyzer
