// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

/// The part of cuDNN 9's backend interface that convolutions need. It is declared here because its
/// headers belong to neither the driver nor the toolkit; a test compares the values with the header
/// where there is one. Enumerations are passed as int. Every descriptor is created, given
/// attributes (a type, a count, an array), finalised, and then used.
namespace headway::cuda::cudnn {

enum class Status : int { kSuccess = 0 };

enum class DescriptorType : int {
  kConvolution = 1,
  kEngine = 2,
  kEngineConfiguration = 3,
  kHeuristics = 4,
  kPlan = 5,
  kForward = 10,
  kBackwardWeights = 11,
  kBackwardData = 12,
  kGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kDeviceProperties = 38,
};

enum class Attribute : int {
  kConvolutionComputeType = 100,
  kConvolutionMode = 101,
  kConvolutionDilations = 102,
  kConvolutionStrides = 103,
  kConvolutionPostPaddings = 104,
  kConvolutionPrePaddings = 105,
  kConvolutionSpatialDimensions = 106,
  kHeuristicsMode = 200,
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kHeuristicsDevice = 204,
  kConfigurationEngine = 300,
  kPlanHandle = 400,
  kPlanConfiguration = 401,
  kPlanWorkspaceBytes = 402,
  kPlanDevice = 407,
  kForwardAlpha = 700,  // each form: alpha, beta, convolution, then its three tensors
  kForwardBeta = 701,
  kForwardConvolution = 702,
  kForwardW = 703,
  kForwardX = 704,
  kForwardY = 705,
  kBackwardDataAlpha = 706,
  kBackwardDataBeta = 707,
  kBackwardDataConvolution = 708,
  kBackwardDataW = 709,
  kBackwardDataDx = 710,
  kBackwardDataDy = 711,
  kBackwardWeightsAlpha = 712,
  kBackwardWeightsBeta = 713,
  kBackwardWeightsConvolution = 714,
  kBackwardWeightsDw = 715,
  kBackwardWeightsX = 716,
  kBackwardWeightsDy = 717,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorDataType = 901,
  kTensorDimensions = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kVariantIds = 1000,
  kVariantPointers = 1001,
  kVariantWorkspace = 1003,
  kEngineNumericalNotes = 1303,
  kDeviceJson = 2702,
};

enum class AttributeType : int {
  kHandle = 0,
  kDataType = 1,
  kInt64 = 3,
  kFloat = 4,
  kPointer = 6,
  kConvolutionMode = 7,
  kHeuristicsMode = 8,
  kNumericalNote = 11,
  kDescriptor = 15,
  kCharacter = 24,
};

enum class DataType : int { kFloat32 = 0, kFloat16 = 2, kInt8 = 3, kInt32 = 4, kBfloat16 = 9 };
enum class Mode : int { kCrossCorrelation = 1 };  // filters are not flipped, as usual in networks
enum class HeuristicsMode : int { kFallback = 2, kA = 3 };
/// Numerical properties of an engine.
enum class Note : int { kTensorCore = 0, kDownConvertsInputs = 1 };
inline constexpr int kMostNotes = 32;  // more than cuDNN 9 has

using Descriptor = void*;
using Handle = void*;

using GetVersion = std::size_t();
using GetLastErrorString = void(char* text, std::size_t bytes);
using Create = Status(Handle* handle);
using Destroy = Status(Handle handle);
using SetStream = Status(Handle handle, void* stream);
using CreateDescriptor = Status(DescriptorType type, Descriptor* descriptor);
using DestroyDescriptor = Status(Descriptor descriptor);
using SetAttribute = Status(Descriptor descriptor, Attribute name, AttributeType type,
                            std::int64_t count, const void* elements);
using GetAttribute = Status(Descriptor descriptor, Attribute name, AttributeType type,
                            std::int64_t wanted, std::int64_t* count, void* elements);
using Finalize = Status(Descriptor descriptor);
using Execute = Status(Handle handle, Descriptor plan, Descriptor variant_pack);

}  // namespace headway::cuda::cudnn
