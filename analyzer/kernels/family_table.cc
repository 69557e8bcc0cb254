// SPDX-License-Identifier: MIT
#include "analyzer/kernels/family_table.h"

#include <array>

namespace headway::analyzer {
namespace {

using enum KernelFamily;

// Where the names were read.
constexpr std::string_view kNccl = "NCCL, RCCL: generated device function names";
constexpr std::string_view kSymmetric =
    "PyTorch symmetric memory, vLLM custom_all_reduce.cu, TransformerEngine userbuffers, NVSHMEM";
constexpr std::string_view kInductor = "PyTorch inductor: triton_{poi,red,per,for,tem}_fused_…";
constexpr std::string_view kXla = "XLA GPU: names of fused computations";
constexpr std::string_view kNvfuser = "nvFuser, NVRTC fusers of PyTorch";
constexpr std::string_view kFlash = "FlashAttention csrc; PyTorch's copy is pytorch_flash";
constexpr std::string_view kFmha = "xformers, CUTLASS example 41, TensorRT fmha_v2, cuDNN SDPA";
constexpr std::string_view kApex = "NVIDIA Apex csrc (multi_tensor_*, layer_norm, xentropy)";
constexpr std::string_view kForeach = "PyTorch native/cuda/ForeachFunctors.cuh, Fused*Kernel.cu";
constexpr std::string_view kAten = "PyTorch aten/src/ATen/native/cuda";
constexpr std::string_view kTe = "TransformerEngine common";
constexpr std::string_view kCudnn = "cuDNN: kernels as profilers show them";
constexpr std::string_view kCublas = "cuBLAS, cuBLASLt: kernels as profilers show them";
constexpr std::string_view kCutlass = "CUTLASS: generated kernel names";
constexpr std::string_view kMiopen = "MIOpen src/kernels";
constexpr std::string_view kTensile = "Tensile: Cijk_<indices>_<types>_…";
constexpr std::string_view kCk = "Composable Kernel: device::kernel_…";
constexpr std::string_view kFbgemm = "FBGEMM fbgemm_gpu";
constexpr std::string_view kCub = "CUB, hipCUB, rocPRIM";
constexpr std::string_view kTensorflow = "TensorFlow core/kernels";
constexpr std::string_view kTensorRt = "TensorRT";
constexpr std::string_view kTrainer = "headway-train reference_trainer/ops: type, then node";
constexpr std::string_view kTrainerCuda = "headway-train on a GPU: kernels/cuda";
constexpr std::string_view kGeneric = "common practice of naming";

constexpr auto kFamilies = std::to_array<FamilyRow>({
    // Communication first: its names contain the words of what it reduces or gathers.
    {"nccl", kCommunication, kNccl},
    {"rccl", kCommunication, kNccl},
    {"msccl", kCommunication, kNccl},
    {"nvshmem", kCommunication, kSymmetric},
    {"cross_device_reduce", kCommunication, kSymmetric},
    {"one_shot_all_reduce", kCommunication, kSymmetric},
    {"two_shot_all_reduce", kCommunication, kSymmetric},
    {"multimem_", kCommunication, kSymmetric},
    {"userbuffers", kCommunication, kSymmetric},
    {"allreduce", kCommunication, kGeneric},
    {"all_reduce", kCommunication, kGeneric},
    {"all-reduce", kCommunication, kXla},
    {"all-gather", kCommunication, kXla},
    {"reduce-scatter", kCommunication, kXla},
    {"allgather", kCommunication, kGeneric},
    {"reduce_scatter_kernel", kCommunication, kGeneric},
    {"deep_ep::", kCommunication, "DeepEP csrc/kernels"},

    // The reference trainer's host device names a kernel after the op's type and its node.
    {"^attention ", kAttention, kTrainer},
    {"^attention_backward ", kAttention, kTrainer},
    {"^batched_matmul ", kGemm, kTrainer},
    {"^linear ", kGemm, kTrainer},
    {"^linear_backward", kGemm, kTrainer},
    {"^attention_mask ", kElementwise, kTrainer},
    {"^padding_mask ", kElementwise, kTrainer},
    {"^scale ", kElementwise, kTrainer},
    {"^mul ", kElementwise, kTrainer},
    {"^sub ", kElementwise, kTrainer},
    {"^add ", kElementwise, kTrainer},
    {"^spread ", kElementwise, kTrainer},
    {"^rsqrt", kElementwise, kTrainer},
    {"^cluster ", kElementwise, kTrainer},
    {"^tf32_round ", kElementwise, kTrainer},
    {"^cast ", kCast, kTrainer},
    {"^split_heads", kLayoutTransform, kTrainer},
    {"^merge_heads", kLayoutTransform, kTrainer},
    {"^window_shift ", kLayoutTransform, kTrainer},
    {"^swap_major ", kLayoutTransform, kTrainer},
    {"^nhwc_to_nchw ", kLayoutTransform, kTrainer},
    {"^nchw_to_nhwc ", kLayoutTransform, kTrainer},
    {"^split_rows ", kFillCopy, kTrainer},
    {"^join_rows ", kFillCopy, kTrainer},
    {"^layer_norm", kNormalisation, kTrainer},
    {"^add_layer_norm", kNormalisation, kTrainer},
    {"^row_mean ", kReduction, kTrainer},
    {"^row_sum ", kReduction, kTrainer},
    {"^column_sum ", kReduction, kTrainer},
    {"^bias_gelu", kActivation, kTrainer},
    {"^gelu", kActivation, kTrainer},
    {"^adam", kOptimizer, kTrainer},
    {"^lamb", kOptimizer, kTrainer},
    {"^lars", kOptimizer, kTrainer},
    {"^unscale", kOptimizer, kTrainer},
    {"^update_scale", kOptimizer, kTrainer},
    {"^attention_mma_", kAttention, kTrainerCuda},
    {"^attention_forward_d", kAttention, kTrainerCuda},
    {"^attention_dq_", kAttention, kTrainerCuda},
    {"^attention_dkv_", kAttention, kTrainerCuda},
    {"^bn_", kNormalisation, kTrainerCuda},
    {"^cast_to_", kCast, kTrainerCuda},
    {"^cast_from_", kCast, kTrainerCuda},
    {"^layout_", kLayoutTransform, kTrainerCuda},
    {"^row_program_", kFused, kTrainerCuda},
    // Images on their way in: on the host and simulated, then of both on a GPU.
    {"^decode_jpeg", kElementwise, kTrainer},
    {"^augment", kElementwise, kTrainer},
    {"^resize", kPooling, kTrainer},
    {"^jpeg_", kElementwise, kTrainerCuda},
    {"^colour_pictures", kElementwise, kTrainerCuda},
    {"^shift_images", kElementwise, kTrainerCuda},

    {"at::cuda::*spin_kernel", kDelay, "PyTorch ATen/cuda/Sleep.cu"},

    // Attention in one kernel.
    {"flash_fwd", kAttention, kFlash},
    {"flash_bwd", kAttention, kFlash},
    {"flash::", kAttention, kFlash},
    {"flashattn", kAttention, kFlash},
    {"flash_attn", kAttention, kFlash},
    {"flash_attention", kAttention, kFmha},
    {"flash_fprop", kAttention, kFmha},
    {"flash_bprop", kAttention, kFmha},
    {"_sdpa_", kAttention, kFmha},
    {"fmha", kAttention, kFmha},
    {"attentionkernel", kAttention, kFmha},
    {"attentionbackwardkernel", kAttention, kFmha},
    {"triton_tem_fused*flex_attention", kAttention, kInductor},
    {"triton_tem_fused*attention", kAttention, kInductor},
    {"multihead_attention", kAttention, kTensorRt},
    {"paged_attention", kAttention, "vLLM csrc/attention"},
    {"_attn_fwd", kAttention, "AOTriton, Triton tutorial: _attn_fwd"},
    {"attn_fwd", kAttention, "AOTriton"},
    {"attn_bwd", kAttention, "AOTriton, Triton tutorial"},
    {"bwd_kernel_dk_dv", kAttention, "AOTriton"},
    {"bwd_kernel_dq", kAttention, "AOTriton"},
    {"batchprefillwith", kAttention, "FlashInfer"},
    {"batchdecodewith", kAttention, "FlashInfer"},

    // Generated code: its names list the ops in it, so it goes before those.
    {"triton_tem_fused*convolution", kConvolution, kInductor},
    {"triton_tem_", kGemm, kInductor},
    {"triton_mm", kGemm, kInductor},
    {"triton_gemm", kGemm, kXla},
    {"gemm_fusion", kGemm, kXla},
    {"triton_softmax", kSoftmax, kXla},
    {"triton_poi_", kFused, kInductor},
    {"triton_red_", kFused, kInductor},
    {"triton_per_", kFused, kInductor},
    {"triton_for_", kFused, kInductor},
    {"triton_", kFused, kInductor},
    {"loop_convert_fusion", kCast, kXla},
    {"wrapped_convert", kCast, kXla},
    {"input_transpose_fusion", kLayoutTransform, kXla},
    {"loop_transpose_fusion", kLayoutTransform, kXla},
    {"wrapped_transpose", kLayoutTransform, kXla},
    {"loop_copy_fusion", kFillCopy, kXla},
    {"input_scatter_fusion", kGatherScatter, kXla},
    {"_fusion", kFused, kXla},
    {"^fusion", kFused, kXla},
    {"^wrapped_", kFused, kXla},
    {"nvfuser", kFused, kNvfuser},
    {"cudacodegen::kernel", kFused, kNvfuser},
    {"^fused_", kFused, kNvfuser},
    {"__myl_", kFused, "TensorRT: Myelin"},

    // Updates of parameters.
    {"multi_tensor_apply", kOptimizer, kForeach},
    {"multi_tensor_", kOptimizer, kApex},
    {"fusedadam", kOptimizer, kForeach},
    {"fusedsgd", kOptimizer, kForeach},
    {"adamfunctor", kOptimizer, kApex},
    {"adam_kernel", kOptimizer, kGeneric},
    {"adamw_kernel", kOptimizer, kGeneric},
    {"lamb_stage", kOptimizer, kApex},
    {"lambstage", kOptimizer, kApex},
    {"applygradientdescent", kOptimizer, kTensorflow},
    {"applymomentum", kOptimizer, kTensorflow},
    {"applyadam", kOptimizer, kTensorflow},
    {"sgd_momentum", kOptimizer, kGeneric},
    {"amp_non_finite_check_and_unscale", kOptimizer, kAten},
    {"amp_update_scale", kOptimizer, kAten},

    // Embeddings: their kernels pool, gather and update at once.
    {"split_embedding", kEmbedding, kFbgemm},
    {"dense_embedding", kEmbedding, kFbgemm},
    {"int_nbit_split_embedding", kEmbedding, kFbgemm},
    {"bounds_check_indices", kEmbedding, kFbgemm},
    {"linearize_index", kEmbedding, kFbgemm},
    {"permute_pooled_embs", kEmbedding, kFbgemm},
    {"recat_copy_async", kEmbedding, kFbgemm},
    {"lxu_cache", kEmbedding, kFbgemm},
    {"lru_cache", kEmbedding, kFbgemm},
    {"fbgemm_gpu::*quantize", kCast, kFbgemm},
    {"fbgemm_gpu::*gemm", kGemm, kFbgemm},
    {"fbgemm_gpu::", kEmbedding, kFbgemm},
    {"embedding", kEmbedding, kAten},
    {"krn_partial", kEmbedding, kAten},
    {"sum_and_scatter", kEmbedding, kAten},
    {"compute_grad_weight", kEmbedding, kAten},

    // Normalisation.
    {"layer_norm", kNormalisation, kAten},
    {"layernorm", kNormalisation, kApex},
    {"rms_norm", kNormalisation, kAten},
    {"rmsnorm", kNormalisation, kGeneric},
    {"gammabeta", kNormalisation, kAten},
    {"rowwisemoments", kNormalisation, kAten},
    {"computeinternalgradients", kNormalisation, kAten},
    {"computefusedparams", kNormalisation, kAten},
    {"group_norm", kNormalisation, kAten},
    {"groupnorm", kNormalisation, kApex},
    {"instance_norm", kNormalisation, kAten},
    {"batch_norm", kNormalisation, kAten},
    {"batchnorm", kNormalisation, kMiopen},
    {"::bn_fw_", kNormalisation, kCudnn},
    {"::bn_bw_", kNormalisation, kCudnn},
    {"bn_fw_tr", kNormalisation, kCudnn},
    {"bn_fw_inf", kNormalisation, kCudnn},
    {"bn_bw_", kNormalisation, kCudnn},
    {"cudnn::norm", kNormalisation, kCudnn},
    {"nhwc_batch_norm", kNormalisation, "Apex groupbn"},
    {"welford", kNormalisation, kApex},
    {"cuapplylayernorm", kNormalisation, kApex},
    {"cucomputegrad", kNormalisation, kApex},
    {"cucomputepartgrad", kNormalisation, kApex},
    {"ln_fwd_", kNormalisation, kTe},
    {"ln_bwd_", kNormalisation, kTe},
    {"lrn_", kNormalisation, kCudnn},

    // Losses and softmax.
    {"nll_loss", kLoss, kAten},
    {"cross_entropy", kLoss, kGeneric},
    {"crossentropy", kLoss, kGeneric},
    {"xentropy", kLoss, kApex},
    {"mse_", kLoss, kAten},
    {"l1_loss", kLoss, kAten},
    {"ctc_loss", kLoss, kAten},
    {"kl_div", kLoss, kAten},
    {"huber", kLoss, kAten},
    {"softmax", kSoftmax, kAten},

    // Recurrent layers.
    {"rnn_blockpersist", kRecurrent, kCudnn},
    {"persistrnn", kRecurrent, kCudnn},
    {"persist*lstm", kRecurrent, kCudnn},
    {"persist*gru", kRecurrent, kCudnn},
    {"elemwisernncell", kRecurrent, kCudnn},
    {"lstm_elementwise", kRecurrent, kCudnn},
    {"gru_elementwise", kRecurrent, kCudnn},
    {"lstm_gates", kRecurrent, kGeneric},
    {"lstm_cell", kRecurrent, kAten},
    {"gru_cell", kRecurrent, kAten},
    {"lstmcell", kRecurrent, kGeneric},
    {"grucell", kRecurrent, kGeneric},
    {"rnncell", kRecurrent, kGeneric},

    // Transforms that name convolutions or GEMMs go before those.
    {"nchwtonhwc", kLayoutTransform, kCudnn},
    {"nhwctonchw", kLayoutTransform, kCudnn},
    {"nchw2nhwc", kLayoutTransform, kCudnn},
    {"nhwc2nchw", kLayoutTransform, kCudnn},
    {"nchw2cnhw", kLayoutTransform, kMiopen},
    {"cnhw2nchw", kLayoutTransform, kMiopen},
    {"nhwcaddpadding", kLayoutTransform, kCudnn},
    {"nchwaddpadding", kLayoutTransform, kCudnn},
    {"converttensor_kernel", kLayoutTransform, kCudnn},
    {"cudnn::ops::tensortransform", kLayoutTransform, kCudnn},
    {"swapdimension", kLayoutTransform, kTensorflow},
    {"shuffleintensor", kLayoutTransform, kTensorflow},
    {"copypackedkernel", kLayoutTransform, kTensorRt},
    {"genericreformat", kLayoutTransform, kTensorRt},
    {"cast_transpose", kCast, kTe},
    {"transpose", kLayoutTransform, kMiopen},
    {"subtensoropwithcast", kCast, kMiopen},
    {"subtensoropwithscalar", kFillCopy, kMiopen},
    {"castorcopy", kCast, kTensorflow},

    // Convolutions.
    {"implicit_gemm", kConvolution, kCudnn},
    {"fprop", kConvolution, kCudnn},
    {"dgrad", kConvolution, kCudnn},
    {"wgrad", kConvolution, kCudnn},
    {"scudnn", kConvolution, kCudnn},
    {"hcudnn", kConvolution, kCudnn},
    {"884cudnn", kConvolution, kCudnn},
    {"1688cudnn", kConvolution, kCudnn},
    {"icudnn", kConvolution, kCudnn},
    {"winograd", kConvolution, kCudnn},
    {"fft2d_", kConvolution, kCudnn},
    {"gcgemm", kConvolution, "cuDNN: complex GEMM of its FFT convolutions"},
    {"flip_filter", kConvolution, kCudnn},
    {"computeoffsetskernel", kConvolution, "cuDNN: index tables of implicit GEMM (cask)"},
    {"computeboffsetskernel", kConvolution, "cuDNN: index tables of implicit GEMM (cask)"},
    {"splitkoffsetskernel", kConvolution, "cuDNN: index tables of implicit GEMM (cask)"},
    {"cask_cudnn", kConvolution, kCudnn},
    {"convolve", kConvolution, kCudnn},
    {"convolution", kConvolution, kCudnn},
    {"conv1d", kConvolution, kAten},
    {"conv2d", kConvolution, kAten},
    {"conv3d", kConvolution, kAten},
    {"conv_depthwise", kConvolution, kAten},
    {"depthwise", kConvolution, kAten},
    {"cunn_conv", kConvolution, kAten},
    {"im2col", kConvolution, kAten},
    {"col2im", kConvolution, kAten},
    {"vol2col", kConvolution, kAten},
    {"col2vol", kConvolution, kAten},
    {"igemm_fwd_gtc", kConvolution, kMiopen},
    {"igemm_bwd_gtc", kConvolution, kMiopen},
    {"igemm_wrw_gtc", kConvolution, kMiopen},
    {"miopenconv", kConvolution, kMiopen},
    {"miopencv", kConvolution, kMiopen},
    {"miopengroupconv", kConvolution, kMiopen},
    {"miopensp3asmconv", kConvolution, kMiopen},
    {"gridwise_convolution", kConvolution, kMiopen},
    {"kernel_grouped_conv", kConvolution, kCk},
    {"gemm_xdlops_bwd_weight", kConvolution, kCk},
    {"bwd_weight", kConvolution, kCk},
    {"bwd_data", kConvolution, kCk},
    {"conv_bias", kConvolution, kGeneric},
    {"^conv_", kConvolution, kGeneric},

    // Matrix products and what belongs to them.
    {"nvjet_", kGemm, kCublas},
    {"cijk_", kGemm, kTensile},
    {"xmma_gemm", kGemm, kCublas},
    {"gemm", kGemm, kCublas},
    {"gemv", kGemm, kCublas},
    {"splitkreduce", kGemm, kCublas},
    {"cublaslt::", kGemm, kCublas},
    {"epilogue::impl::globalkernel", kGemm, "cuBLASLt: bias and its gradient"},
    {"cublas*dot_kernel", kGemm, kCublas},
    {"reduce_1block_kernel", kGemm, "cuBLAS: dot products"},
    {"trsm", kGemm, kCublas},
    {"matmul", kGemm, kGeneric},
    {"cutlass::kernel", kGemm, kCutlass},
    {"cutlass::device_kernel", kGemm, kCutlass},
    {"ck16tensor_operation*gemm", kGemm, kCk},
    {"bmm_", kGemm, "TensorRT-LLM, FlashInfer batched GEMM"},
    {"_mm_kernel", kGemm, kGeneric},
    {"addmm", kGemm, kAten},

    // Number types.
    {"direct_copy_kernel_cuda*loadwithcast", kCast, "PyTorch Copy.cu through CUDALoops.cuh"},
    {"float16_copy_kernel", kCast, "PyTorch Copy.cu"},  // bfloat16_copy_kernel too
    {"float8_copy_kernel", kCast, "PyTorch Copy.cu"},
    {"float8_e4m3fn_copy_kernel", kCast, "PyTorch Copy.cu"},
    // Before PyTorch 2 this instance was the plain strided copy, and the functor was in an unnamed
    // namespace; since then the plain one is called …_nocast, and this one converts.
    {"gpu_kernel_impl<at::native::(anonymous namespace)::direct_copy", kLayoutTransform,
     "PyTorch 1 CUDALoops.cuh: legacy kernel without casts"},
    {"gpu_kernel_impl<at::native::direct_copy", kCast, "PyTorch 2 CUDALoops.cuh: fetch_and_cast"},
    {"gpu_kernel_impl_nocast<*direct_copy", kLayoutTransform, "PyTorch CUDALoops.cuh: strided"},
    {"direct_copy_kernel", kFillCopy, "PyTorch Copy.cu"},
    {"castkernel", kCast, kGeneric},
    {"cast_kernel", kCast, kGeneric},
    {"cast_fp", kCast, kTe},
    {"_cast_", kCast, kGeneric},
    {"dequantize", kCast, kGeneric},
    {"quantize", kCast, kGeneric},
    {"fp32_to_", kCast, kGeneric},
    {"to_bf16", kCast, kGeneric},
    {"to_fp16", kCast, kGeneric},
    {"float2half", kCast, kGeneric},
    {"half2float", kCast, kGeneric},

    // Order, places, pooling.
    {"searchsorted", kGatherScatter, kAten},
    {"radixsort", kSort, kCub},
    {"radix_sort", kSort, kCub},
    {"mergesort", kSort, kCub},
    {"bitonicsort", kSort, kAten},
    {"sort", kSort, kAten},
    {"topk", kSort, kAten},
    {"catarray", kFillCopy, "PyTorch Shape.cu"},
    {"max_pool", kPooling, kAten},
    {"avg_pool", kPooling, kAten},
    {"average_pool", kPooling, kAten},
    {"pooling", kPooling, kCudnn},
    {"maxpool", kPooling, kTensorflow},
    {"avepool", kPooling, kGeneric},
    {"upsample", kPooling, kAten},
    {"grid_sampl", kPooling, kAten},
    {"resize", kPooling, kTensorflow},
    {"roi_align", kPooling, "torchvision csrc/ops/cuda"},
    {"indexselect", kGatherScatter, kAten},
    {"indexfunc", kGatherScatter, kAten},
    {"index_", kGatherScatter, kAten},  // index_elementwise_kernel, index_put, index_copy
    {"indexing_backward", kGatherScatter, kAten},
    {"scatter", kGatherScatter, kAten},
    {"gather", kGatherScatter, kAten},
    {"write_indices", kGatherScatter, kAten},
    {"to_dense_representation", kGatherScatter, "PyTorch sparse"},
    {"compute_cuda_kernel", kGatherScatter, "PyTorch Repeat.cu"},
    {"roll_cuda", kLayoutTransform, kAten},
    {"flip_cuda", kLayoutTransform, kAten},
    {"permute", kLayoutTransform, kGeneric},

    // Random numbers and dropout.
    {"dropout", kElementwise, kAten},
    {"distribution_elementwise", kRandom, kAten},
    {"distribution_nullary", kRandom, kAten},
    {"philox", kRandom, kGeneric},
    {"curand", kRandom, "cuRAND"},
    {"bernoulli", kRandom, kAten},
    {"randperm", kRandom, kAten},
    {"fillphiloxrandom", kRandom, kTensorflow},

    // Fills and plain copies.
    {"fillfunctor", kFillCopy, kAten},
    {"fill_kernel", kFillCopy, kGeneric},
    {"arange", kFillCopy, kAten},
    {"linspace", kFillCopy, kAten},
    {"triu_tril", kFillCopy, kAten},
    {"split_with_sizes_copy", kFillCopy, kAten},
    {"chunk_cat", kFillCopy, kAten},
    {"memset", kFillCopy, kGeneric},
    {"zero_kernel", kFillCopy, kGeneric},
    {"concat", kFillCopy, kTensorflow},
    {"copy_kernel", kFillCopy, kGeneric},
    {"copykernel", kFillCopy, kGeneric},
    {"copybuffer", kFillCopy, "ROCm blit kernels: __amd_rocclr_copyBuffer"},
    {"fillbuffer", kFillCopy, "ROCm blit kernels: __amd_rocclr_fillBuffer"},

    // Reductions and scans, before the elementwise functors that they take.
    {"at::native::reduce_kernel", kReduction, kAten},
    {"cub::devicereduce", kReduction, kCub},
    {"cub::devicescan", kReduction, kCub},
    {"cub::devicesegmentedreduce", kReduction, kCub},
    {"cub::devicecompact", kReduction, kCub},
    {"cub::deviceselect", kReduction, kCub},
    {"cub::*devicereduce", kReduction, kCub},
    {"cub::*devicescan", kReduction, kCub},
    {"tensor_kernel_scan", kReduction, kAten},
    {"cumsum", kReduction, kGeneric},

    // Activations: the functor inside an elementwise kernel, or a kernel of their own.
    {"gelu", kActivation, kAten},
    {"silu", kActivation, kAten},
    {"swish", kActivation, kAten},
    {"swiglu", kActivation, kTe},
    {"geglu", kActivation, kTe},
    {"glu_kernel", kActivation, kAten},
    {"relu", kActivation, kAten},
    {"::elu", kActivation, kAten},
    {"threshold_kernel", kActivation, "PyTorch ActivationThresholdKernel.cu: backward of ReLU"},
    {"launch_clamp_scalar", kActivation, "PyTorch TensorCompare.cu: ReLU is clamp_min(0)"},
    {"sigmoid", kActivation, kAten},
    {"tanh_kernel", kActivation, kAten},
    {"tanh_backward", kActivation, kAten},
    {"mish_", kActivation, kAten},
    {"softplus", kActivation, kAten},
    {"miopenneuron", kActivation, kMiopen},
    {"activation_fw", kActivation, kCudnn},
    {"activation_bw", kActivation, kCudnn},
    {"activation", kActivation, kGeneric},

    // Arithmetic on each element.
    {"elementwise", kElementwise, kAten},
    {"element_wise", kElementwise, kGeneric},
    {"pointwise", kElementwise, kAten},
    {"masked_scale", kElementwise, kAten},
    {"eigenmetakernel", kElementwise, "Eigen, as TensorFlow uses it"},
    {"op_generic_tensor", kElementwise, kCudnn},
    {"scalepackedtensor", kElementwise, kCudnn},
    {"scale_tensor", kElementwise, kCudnn},
    {"add_tensor", kElementwise, kCudnn},
    {"op_tensor", kElementwise, kCudnn},
    {"optensor", kElementwise, kMiopen},
    {"subtensorop", kElementwise, kMiopen},
    {"biasnchw", kElementwise, kTensorflow},
    {"biasnhwc", kElementwise, kTensorflow},
    {"add_bias", kElementwise, kGeneric},
    {"bias_add", kElementwise, kGeneric},
    {"rotary", kElementwise, kGeneric},
    {"rope_", kElementwise, kGeneric},
    {"residual", kElementwise, kGeneric},
    {"add_kernel", kElementwise, kGeneric},
    {"mul_kernel", kElementwise, kGeneric},
    {"binaryop", kElementwise, kTensorflow},
    {"reduce", kReduction, kGeneric},
    {"sum_kernel", kReduction, kGeneric},
    {"argmax", kReduction, kGeneric},
    {"_norm_kernel", kReduction, kGeneric},
});

constexpr auto kTensor = trace::MathUnit::kTensor;
constexpr auto kGeneral = trace::MathUnit::kGeneral;
constexpr auto kUnsaid = trace::MathUnit::kUnknown;
constexpr Precision kAny = Precision::kUnknown;

constexpr auto kMath = std::to_array<MathRow>({
    // Fused multiply-add on the general pipes: said outright, and so goes first.
    {"_ffma_", kGeneral, Precision::kFp32, "cuBLAS xmma names"},
    {"_simt_sgemm", kGeneral, Precision::kFp32, kCutlass},
    {"_simt_dgemm", kGeneral, Precision::kFp64, kCutlass},
    {"_simt_", kGeneral, kAny, kCutlass},
    {"gemv", kUnsaid, kAny, "one vector: bound by memory, no matrix instruction pays"},
    {"splitkreduce", kUnsaid, kAny, "sums partial results, multiplies nothing"},
    // Matrix instructions by their shape m×n×k.
    {"s1688tf32", kTensor, Precision::kTf32, kCutlass},
    {"tensorop_s1688gemm", kTensor, Precision::kTf32, "CUTLASS: s1688 without a type is TF32"},
    {"tensorop_tf32_s1688", kTensor, Precision::kTf32, kCutlass},
    {"tensorop_s1688fprop", kTensor, Precision::kTf32, kCutlass},
    {"tensorop_s1688dgrad", kTensor, Precision::kTf32, kCutlass},
    {"tensorop_s1688wgrad", kTensor, Precision::kTf32, kCutlass},
    {"tensorop_bf16_", kTensor, Precision::kBf16, kCutlass},
    {"tensorop_f16_", kTensor, Precision::kFp16, kCutlass},
    {"d884", kTensor, Precision::kFp64, kCutlass},
    {"h884", kTensor, Precision::kFp16, kCublas},
    {"i8816", kTensor, Precision::kInt8, kCublas},
    {"i16832", kTensor, Precision::kInt8, kCublas},
    {"s884", kTensor, kAny, "cuBLAS, cuDNN on Volta: FP16 in"},
    {"s1688", kTensor, kAny, kCublas},
    {"h1688", kTensor, Precision::kFp16, kCublas},
    {"s16816", kTensor, kAny, kCublas},
    {"h16816", kTensor, Precision::kFp16, kCublas},
    {"s161616", kTensor, kAny, kCublas},
    {"tensorop", kTensor, kAny, kCutlass},
    {"tensor8x8x4", kTensor, kAny, kCudnn},
    {"tensor16x8x8", kTensor, kAny, kCudnn},
    {"tensor16x8x16", kTensor, kAny, kCudnn},
    {"tensor16x8x32", kTensor, kAny, kCudnn},
    {"imma", kTensor, Precision::kInt8, kCublas},
    {"wgmma", kTensor, kAny, kCutlass},
    {"gmma", kTensor, kAny, kCutlass},
    {"hmma", kTensor, Precision::kFp16, kCudnn},
    {"wmma", kTensor, kAny, kCutlass},
    {"tcgen05", kTensor, kAny, kCutlass},
    {"_umma", kTensor, kAny, kCutlass},
    {"warpgroupsize", kTensor, kAny, "cuBLAS, cuDNN: warp groups exist for GMMA only"},
    {"_fp16_fp16_f32_", kTensor, Precision::kFp16, kCudnn},
    {"^attention_mma_", kTensor, kAny, kTrainerCuda},
    {"^attention_forward_d", kGeneral, kAny, kTrainerCuda},
    {"^attention_dq_", kGeneral, kAny, kTrainerCuda},
    {"^attention_dkv_", kGeneral, kAny, kTrainerCuda},
    {"flash_fwd", kTensor, kAny, kFlash},
    {"flash_bwd", kTensor, kAny, kFlash},
    {"flash::", kTensor, kAny, kFlash},
    {"fmha", kTensor, kAny, kFmha},
    {"_sdpa_", kTensor, kAny, kFmha},
    // AMD.
    {"igemm_*gtcx", kTensor, kAny, "MIOpen: the x stands for xdlops, matrix instructions"},
    {"xdl", kTensor, kAny, kCk},
    {"_mfma", kTensor, kAny, kCk},
    // General pipes by the naming of older libraries.
    {"int8*dp4a", kGeneral, Precision::kInt8, kCublas},
    {"_sgemm_", kGeneral, Precision::kFp32, "cuBLAS: volta_sgemm_…, ampere_sgemm_…"},
    {"_dgemm_", kGeneral, Precision::kFp64, kCublas},
    {"_hgemm_", kGeneral, Precision::kFp16, kCublas},
    {"magma_sgemm", kGeneral, Precision::kFp32, "MAGMA"},
    {"_scudnn_", kGeneral, Precision::kFp32, "cuDNN: s is single precision, no matrix shape"},
    {"_hcudnn_", kGeneral, Precision::kFp16, kCudnn},
    {"gcgemm", kGeneral, Precision::kFp32, kCudnn},
    {"_cgemm_", kGeneral, Precision::kFp32, kCublas},
    {"dgrad_engine<float", kGeneral, Precision::kFp32, "cuDNN: engines older than matrix cores"},
    {"wgrad_alg0_engine<float", kGeneral, Precision::kFp32, kCudnn},
    {"wgrad_alg1_engine<float", kGeneral, Precision::kFp32, kCudnn},
    {"dgrad2d_alg1_1<float", kGeneral, Precision::kFp32, kCudnn},
    {"implicit_convolve_sgemm<float", kGeneral, Precision::kFp32, kCudnn},
    {"explicit_convolve_sgemm<float", kGeneral, Precision::kFp32, kCudnn},
    {"precomputed_convolve_sgemm<float", kGeneral, Precision::kFp32, kCudnn},
    {"convolve_sgemm", kGeneral, kAny, kCudnn},
    {"winograd_nonfused", kUnsaid, kAny, "transforms around a GEMM"},
    {"gemmk1_kernel", kGeneral, kAny, kCublas},
    {"gemmsn_", kGeneral, kAny, kCublas},
});

constexpr auto kPrecisions =
    std::to_array<PrecisionRow>({
        {"tf32f32", Precision::kTf32}, {"tf32tf32", Precision::kTf32},
        {"_tf32_", Precision::kTf32},  {"bf16bf16", Precision::kBf16},
        {"f16f16", Precision::kFp16},  {"e4m3", Precision::kFp8},
        {"e5m2", Precision::kFp8},     {"i8i8", Precision::kInt8},
        {"f32f32", Precision::kFp32},  {"f64f64", Precision::kFp64},
        {"bf16", Precision::kBf16},    {"bfloat16", Precision::kBf16},
        {"fp8", Precision::kFp8},      {"fp16", Precision::kFp16},
        {"half", Precision::kFp16},    {"_f16", Precision::kFp16},
        {"884", Precision::kFp16},    // Volta's matrix instructions know no other type
        {"1688", Precision::kFp16},   // with a type said: above
        {"16816", Precision::kFp16},  // likewise
        {"fp32", Precision::kFp32},    {"_f32", Precision::kFp32},
        {"<float", Precision::kFp32},  {" float,", Precision::kFp32},
        {"<double", Precision::kFp64},
    });

constexpr auto kPasses = std::to_array<PassRow>({
    {"strided_dgrad", ConvPass::kDataGradient, true, "cuDNN: xmma strided_dgrad_indexed"},
    {"dgrad*_strided", ConvPass::kDataGradient, true, kCutlass},
    {"dgrad", ConvPass::kDataGradient, false, kCudnn},
    {"winogradwgrad", ConvPass::kWeightGradient, false, kCudnn},
    {"wgrad", ConvPass::kWeightGradient, false, kCudnn},
    {"cask_cudnn_train", ConvPass::kWeightGradient, false, kCudnn},
    {"cudnn*strided*splitk", ConvPass::kWeightGradient, false, "cuDNN: scudnn_…_stridedB_splitK_…"},
    {"cudnn*stridedb", ConvPass::kDataGradient, false, "cuDNN: scudnn_…_stridedB_…"},
    {"bwd_weight", ConvPass::kWeightGradient, false, kCk},
    {"bwd_data", ConvPass::kDataGradient, false, kCk},
    {"_wrw_", ConvPass::kWeightGradient, false, kMiopen},
    {"igemm_bwd_", ConvPass::kDataGradient, false, kMiopen},
    {"backward_filter", ConvPass::kWeightGradient, false, kAten},
    {"backward_weight", ConvPass::kWeightGradient, false, kAten},
    {"grad_weight", ConvPass::kWeightGradient, false, kAten},
    {"backward_input", ConvPass::kDataGradient, false, kAten},
    {"grad_input", ConvPass::kDataGradient, false, kAten},
    {"fprop", ConvPass::kForward, false, kCudnn},
    {"igemm_fwd_", ConvPass::kForward, false, kMiopen},
    {"conv_fwd", ConvPass::kForward, false, kCk},
    {"cudnn*_relu_", ConvPass::kForward, false, "cuDNN: the epilogue of the forward kernel"},
    {"convolve", ConvPass::kForward, false, kCudnn},
});

constexpr auto kArchitectures = std::to_array<ArchitectureRow>({
    {"maxwell_", 50},     {"volta_", 70},      {"sm70_", 70},
    {"turing_", 75},      {"sm75_", 75},       {"cutlass_75_", 75},
    {"ampere_", 80},      {"sm80", 80},        {"cutlass_80_", 80},
    {"sm86", 86},         {"sm89", 89},        {"hopper_", 90},
    {"sm90", 90},         {"cutlass_90_", 90}, {"nvjet_sm100", 100},
    {"nvjet_sm120", 120}, {"nvjet_", 90},      {"sm100", 100},
    {"sm120", 120},       {"flash::", 80},  // FlashAttention 2 asks for Ampere
});

}  // namespace

std::span<const FamilyRow> family_rows() {
  return kFamilies;
}
std::span<const MathRow> math_rows() {
  return kMath;
}
std::span<const PrecisionRow> precision_rows() {
  return kPrecisions;
}
std::span<const PassRow> pass_rows() {
  return kPasses;
}
std::span<const ArchitectureRow> architecture_rows() {
  return kArchitectures;
}

}  // namespace headway::analyzer
