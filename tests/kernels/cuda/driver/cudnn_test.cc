// SPDX-License-Identifier: MIT
// What is declared of cuDNN by hand, against its header where there is one; and its own plans, where it is installed,
// for a GPU that is only described: a GPU is needed to run them, not to make them.
#include <doctest/doctest.h>

#include <memory>

#include "common/error.h"
#include "kernels/cuda/cudnn/convolution.h"

#if __has_include(<cudnn_graph.h>) && __has_include(<cuda_runtime_api.h>)
#include <cudnn_graph.h>
#endif

namespace headway::cuda {
namespace {

using kernels::NumberFormat;

#ifdef CUDNN_GRAPH_H_
using namespace cudnn;
constexpr int number(auto value) {
  return static_cast<int>(value);
}
#define HEADWAY_SAME(ours, theirs) static_assert(number(ours) == number(theirs))
HEADWAY_SAME(DescriptorType::kConvolution, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
HEADWAY_SAME(DescriptorType::kEngine, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
HEADWAY_SAME(DescriptorType::kEngineConfiguration, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
HEADWAY_SAME(DescriptorType::kHeuristics, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
HEADWAY_SAME(DescriptorType::kPlan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
HEADWAY_SAME(DescriptorType::kForward, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
HEADWAY_SAME(DescriptorType::kBackwardWeights,
             CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
HEADWAY_SAME(DescriptorType::kBackwardData,
             CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
HEADWAY_SAME(DescriptorType::kGraph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
HEADWAY_SAME(DescriptorType::kVariantPack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
HEADWAY_SAME(DescriptorType::kTensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
HEADWAY_SAME(Attribute::kConvolutionComputeType, CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
HEADWAY_SAME(Attribute::kConvolutionMode, CUDNN_ATTR_CONVOLUTION_CONV_MODE);
HEADWAY_SAME(Attribute::kConvolutionDilations, CUDNN_ATTR_CONVOLUTION_DILATIONS);
HEADWAY_SAME(Attribute::kConvolutionStrides, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
HEADWAY_SAME(Attribute::kConvolutionPostPaddings, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
HEADWAY_SAME(Attribute::kConvolutionPrePaddings, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
HEADWAY_SAME(Attribute::kConvolutionSpatialDimensions, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
HEADWAY_SAME(Attribute::kHeuristicsMode, CUDNN_ATTR_ENGINEHEUR_MODE);
HEADWAY_SAME(Attribute::kHeuristicsGraph, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
HEADWAY_SAME(Attribute::kHeuristicsResults, CUDNN_ATTR_ENGINEHEUR_RESULTS);
HEADWAY_SAME(Attribute::kConfigurationEngine, CUDNN_ATTR_ENGINECFG_ENGINE);
HEADWAY_SAME(Attribute::kPlanHandle, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
HEADWAY_SAME(Attribute::kPlanConfiguration, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
HEADWAY_SAME(Attribute::kPlanWorkspaceBytes, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
HEADWAY_SAME(Attribute::kForwardAlpha, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA);
HEADWAY_SAME(Attribute::kForwardBeta, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA);
HEADWAY_SAME(Attribute::kForwardConvolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
HEADWAY_SAME(Attribute::kForwardW, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W);
HEADWAY_SAME(Attribute::kForwardX, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X);
HEADWAY_SAME(Attribute::kForwardY, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
HEADWAY_SAME(Attribute::kBackwardDataAlpha, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA);
HEADWAY_SAME(Attribute::kBackwardDataBeta, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA);
HEADWAY_SAME(Attribute::kBackwardDataConvolution,
             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC);
HEADWAY_SAME(Attribute::kBackwardDataW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W);
HEADWAY_SAME(Attribute::kBackwardDataDx, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX);
HEADWAY_SAME(Attribute::kBackwardDataDy, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY);
HEADWAY_SAME(Attribute::kBackwardWeightsAlpha, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA);
HEADWAY_SAME(Attribute::kBackwardWeightsBeta, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA);
HEADWAY_SAME(Attribute::kBackwardWeightsConvolution,
             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC);
HEADWAY_SAME(Attribute::kBackwardWeightsDw, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW);
HEADWAY_SAME(Attribute::kBackwardWeightsX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X);
HEADWAY_SAME(Attribute::kBackwardWeightsDy, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY);
HEADWAY_SAME(Attribute::kGraphHandle, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
HEADWAY_SAME(Attribute::kGraphOperations, CUDNN_ATTR_OPERATIONGRAPH_OPS);
HEADWAY_SAME(Attribute::kTensorAlignment, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
HEADWAY_SAME(Attribute::kTensorDataType, CUDNN_ATTR_TENSOR_DATA_TYPE);
HEADWAY_SAME(Attribute::kTensorDimensions, CUDNN_ATTR_TENSOR_DIMENSIONS);
HEADWAY_SAME(Attribute::kTensorStrides, CUDNN_ATTR_TENSOR_STRIDES);
HEADWAY_SAME(Attribute::kTensorId, CUDNN_ATTR_TENSOR_UNIQUE_ID);
HEADWAY_SAME(Attribute::kVariantIds, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
HEADWAY_SAME(Attribute::kVariantPointers, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
HEADWAY_SAME(Attribute::kVariantWorkspace, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
HEADWAY_SAME(Attribute::kEngineNumericalNotes, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
HEADWAY_SAME(AttributeType::kHandle, CUDNN_TYPE_HANDLE);
HEADWAY_SAME(AttributeType::kDataType, CUDNN_TYPE_DATA_TYPE);
HEADWAY_SAME(AttributeType::kInt64, CUDNN_TYPE_INT64);
HEADWAY_SAME(AttributeType::kFloat, CUDNN_TYPE_FLOAT);
HEADWAY_SAME(AttributeType::kPointer, CUDNN_TYPE_VOID_PTR);
HEADWAY_SAME(AttributeType::kConvolutionMode, CUDNN_TYPE_CONVOLUTION_MODE);
HEADWAY_SAME(AttributeType::kHeuristicsMode, CUDNN_TYPE_HEUR_MODE);
HEADWAY_SAME(AttributeType::kNumericalNote, CUDNN_TYPE_NUMERICAL_NOTE);
HEADWAY_SAME(AttributeType::kDescriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR);
HEADWAY_SAME(AttributeType::kCharacter, CUDNN_TYPE_CHAR);
HEADWAY_SAME(DataType::kFloat32, CUDNN_DATA_FLOAT);
HEADWAY_SAME(DataType::kFloat16, CUDNN_DATA_HALF);
HEADWAY_SAME(DataType::kBfloat16, CUDNN_DATA_BFLOAT16);
HEADWAY_SAME(DataType::kInt8, CUDNN_DATA_INT8);
HEADWAY_SAME(DataType::kInt32, CUDNN_DATA_INT32);
HEADWAY_SAME(Mode::kCrossCorrelation, CUDNN_CROSS_CORRELATION);
HEADWAY_SAME(HeuristicsMode::kFallback, CUDNN_HEUR_MODE_FALLBACK);
HEADWAY_SAME(HeuristicsMode::kA, CUDNN_HEUR_MODE_A);
HEADWAY_SAME(Note::kTensorCore, CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
HEADWAY_SAME(Note::kDownConvertsInputs, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
static_assert(kMostNotes >= CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
#if CUDNN_VERSION >= 90800
HEADWAY_SAME(DescriptorType::kDeviceProperties, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
HEADWAY_SAME(Attribute::kHeuristicsDevice, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
HEADWAY_SAME(Attribute::kPlanDevice, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
HEADWAY_SAME(Attribute::kDeviceJson, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
#endif
// Functions are called through types that have int for every enumeration.
static_assert(sizeof(cudnnStatus_t) == sizeof(Status) &&
              sizeof(cudnnBackendAttributeName_t) == sizeof(Attribute));
#endif

/// An H200 as its data sheet and CUDA's limits for sm_90 have it.
constexpr const char* kH200 = R"({"deviceName": "NVIDIA H200", "cudaDeviceId": 0, "pciDeviceId": 0,
  "deviceVer": 900, "driverVer": 13000, "multiProcessorCount": 132, "warpSize": 32,
  "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
  "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "maxCtasPerSM": 32, "regsPerBlock": 65536,
  "maxRegistersPerSM": 65536, "maxSharedMemoryPerBlock": 49152,
  "maxSharedMemoryPerBlockOptin": 232448, "reservedSharedMemoryPerBlock": 1024,
  "totalGlobalMem": 150000000000, "l2CacheSize": 62914560, "smClockRateKHz": 1980000,
  "memClockRateKHz": 3201000, "isTccDriver": 0, "supportCoopLaunch": 1})";

std::unique_ptr<Cudnn> described_h200() {
  try {
    auto library = std::make_unique<Cudnn>(std::string(kH200));
    return library;
  } catch (const Error& error) {
    MESSAGE("[skipped] ", error.what());
    return nullptr;
  }
}

/// A plan for every kind of convolution of the models, in every form and format.
void check_plans(bool channels_first) {
  const auto library = described_h200();
  if (!library) return;
  const ConvolutionShape shapes[] = {
      {128, 28, 28, 1, 16, 3, 1, 1},  // ResNet-20 on Fashion-MNIST: first, inner, strided, shortcut
      {128, 28, 28, 16, 16, 3, 1, 1},    //
      {128, 28, 28, 16, 32, 3, 2, 1},    //
      {128, 28, 28, 16, 32, 1, 2, 0},    //
      {256, 224, 224, 3, 64, 7, 2, 3},   // ResNet-50
      {256, 56, 56, 64, 64, 1, 1, 0},    //
      {256, 56, 56, 64, 64, 3, 1, 1},    //
      {256, 56, 56, 64, 256, 1, 1, 0},   //
      {256, 56, 56, 256, 512, 1, 2, 0},  //
      {256, 56, 56, 128, 128, 3, 2, 1},  //
      {256, 7, 7, 512, 2048, 1, 1, 0},   //
      {32, 300, 300, 3, 64, 7, 2, 3},    // a detector's backbone, a map and its heads
      {32, 19, 19, 512, 256, 1, 1, 0},   //
      {32, 10, 10, 256, 512, 3, 2, 1},   //
      {32, 38, 38, 512, 16, 3, 1, 1},    //
      {32, 38, 38, 512, 84, 3, 1, 1},    //
      {3, 5, 7, 13, 9, 3, 1, 1},         // nothing is a multiple of eight
  };
  for (NumberFormat format : {NumberFormat::kFloat32, NumberFormat::kTf32, NumberFormat::kFloat16,
                              NumberFormat::kBfloat16}) {
    for (ConvolutionShape shape : shapes) {
      shape.channels_first = channels_first;
      for (ConvolutionForm form : {ConvolutionForm::kForward, ConvolutionForm::kBackwardData,
                                   ConvolutionForm::kBackwardWeights}) {
        CAPTURE(static_cast<int>(format));
        CAPTURE(static_cast<int>(form));
        CAPTURE(shape.channels);
        CAPTURE(shape.filters);
        CHECK_NOTHROW(ConvolutionPlan(*library, form, format, shape));
      }
    }
  }
}

}  // namespace

TEST_CASE("cuDNN itself has a plan for every kind of convolution of the models on an H200") {
  check_plans(false);
}

TEST_CASE("cuDNN itself has a plan for each of them with channels first, too") {
  check_plans(true);
}

TEST_CASE("cuDNN itself has a plan for every convolution of inference in INT8 on an H200") {
  const auto library = described_h200();
  if (!library) return;
  const ConvolutionShape shapes[] = {
      {128, 28, 28, 4, 16, 3, 1, 1},     // ResNet-20: padded to four channels, inner, strided
      {128, 28, 28, 16, 32, 3, 2, 1},    //
      {128, 28, 28, 16, 32, 1, 2, 0},    //
      {128, 224, 224, 4, 64, 7, 2, 3},   // ResNet-50
      {128, 56, 56, 64, 256, 1, 1, 0},   //
      {128, 56, 56, 128, 128, 3, 2, 1},  //
      {128, 7, 7, 512, 2048, 1, 1, 0},   //
      {32, 38, 38, 512, 84, 3, 1, 1},    // a head of a detector
  };
  for (ConvolutionShape shape : shapes) {
    shape.int8 = true;
    CAPTURE(shape.channels);
    CAPTURE(shape.filters);
    CHECK_NOTHROW(
        ConvolutionPlan(*library, ConvolutionForm::kForward, NumberFormat::kFloat32, shape));
  }
}

TEST_CASE("cuDNN itself takes arguments for a plan, and none that are not aligned") {
  const auto library = described_h200();
  if (!library) return;
  const ConvolutionPlan plan(*library, ConvolutionForm::kForward, NumberFormat::kFloat16,
                             {8, 16, 16, 64, 64, 3, 1, 1});
  auto address = [](std::uintptr_t at) { return reinterpret_cast<void*>(at); };
  CHECK_NOTHROW(plan.bind({address(0x1000), address(0x2000), address(0x3000), address(0x4000)}));
  CHECK_THROWS_AS(plan.bind({address(0x1000), address(0x2008), address(0x3000), address(0x4000)}),
                  Error);
  CHECK_THROWS_AS(plan.bind({address(0x1000), address(0x2000), nullptr, address(0x4000)}), Error);
}

}  // namespace headway::cuda
