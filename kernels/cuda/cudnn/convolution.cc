// SPDX-License-Identifier: MIT
#include "kernels/cuda/cudnn/convolution.h"

#include <algorithm>
#include <bit>

#include "common/error.h"

namespace headway::cuda {
namespace {

using namespace cudnn;
using kernels::NumberFormat;

constexpr std::int64_t kX = 1, kW = 2, kY = 3;  // the tensors' ids

DataType data_type(NumberFormat format) {
  switch (format) {
    case NumberFormat::kFloat16:
      return DataType::kFloat16;
    case NumberFormat::kBfloat16:
      return DataType::kBfloat16;
    case NumberFormat::kFloat32:
    case NumberFormat::kTf32:
      break;
  }
  return DataType::kFloat32;
}

/// cuDNN orders extents as outer, channels, height, width for any order in memory; strides give the
/// order in memory.
CudnnDescriptor tensor(const Cudnn& library, std::int64_t id, DataType type, std::int64_t outer,
                       std::int64_t channels, std::int64_t height, std::int64_t width,
                       bool channels_first) {
  CudnnDescriptor result(library, DescriptorType::kTensor);
  result.set(Attribute::kTensorDataType, AttributeType::kDataType, {type})
      .set(Attribute::kTensorDimensions, {outer, channels, height, width})
      .set(Attribute::kTensorStrides,
           {channels * height * width, channels_first ? height * width : 1,
            channels_first ? width : channels * width, channels_first ? 1 : channels})
      .set(Attribute::kTensorId, {id})
      .set(Attribute::kTensorAlignment, {16})
      .finalize("a convolution's tensor");
  return result;
}

CudnnDescriptor convolution(const Cudnn& library, const ConvolutionShape& s) {
  CudnnDescriptor result(library, DescriptorType::kConvolution);
  result
      .set(Attribute::kConvolutionComputeType, AttributeType::kDataType,
           {s.int8 ? DataType::kInt32 : DataType::kFloat32})
      .set(Attribute::kConvolutionMode, AttributeType::kConvolutionMode, {Mode::kCrossCorrelation})
      .set(Attribute::kConvolutionSpatialDimensions, {2})
      .set(Attribute::kConvolutionDilations, {1, 1})
      .set(Attribute::kConvolutionStrides, {s.stride, s.stride})
      .set(Attribute::kConvolutionPrePaddings, {s.padding, s.padding})
      .set(Attribute::kConvolutionPostPaddings, {s.padding, s.padding})
      .finalize("a convolution");
  return result;
}

/// The descriptor type of a form, and its attributes by role.
struct FormAttributes {
  DescriptorType type;
  Attribute alpha, beta, convolution, x, w, y;
};
FormAttributes attributes_of(ConvolutionForm form) {
  switch (form) {
    case ConvolutionForm::kBackwardData:
      return {DescriptorType::kBackwardData, Attribute::kBackwardDataAlpha,
              Attribute::kBackwardDataBeta,  Attribute::kBackwardDataConvolution,
              Attribute::kBackwardDataDx,    Attribute::kBackwardDataW,
              Attribute::kBackwardDataDy};
    case ConvolutionForm::kBackwardWeights:
      return {DescriptorType::kBackwardWeights, Attribute::kBackwardWeightsAlpha,
              Attribute::kBackwardWeightsBeta,  Attribute::kBackwardWeightsConvolution,
              Attribute::kBackwardWeightsX,     Attribute::kBackwardWeightsDw,
              Attribute::kBackwardWeightsDy};
    case ConvolutionForm::kForward:
      break;
  }
  return {DescriptorType::kForward, Attribute::kForwardAlpha,
          Attribute::kForwardBeta,  Attribute::kForwardConvolution,
          Attribute::kForwardX,     Attribute::kForwardW,
          Attribute::kForwardY};
}

/// The graph of one operation. Its parts may be destroyed afterwards, because cuDNN copies them.
CudnnDescriptor operation_graph(const Cudnn& library, ConvolutionForm form, NumberFormat format,
                                const ConvolutionShape& s) {
  const DataType type = s.int8 ? DataType::kInt8 : data_type(format);
  const CudnnDescriptor x =
      tensor(library, kX, type, s.images, s.channels, s.height, s.width, s.channels_first);
  const CudnnDescriptor w =
      tensor(library, kW, type, s.filters, s.channels, s.kernel, s.kernel, s.channels_first);
  const DataType result = s.int8 ? DataType::kInt32 : type;
  const CudnnDescriptor y = tensor(library, kY, result, s.images, s.filters, s.out(s.height),
                                   s.out(s.width), s.channels_first);
  const CudnnDescriptor how = convolution(library, s);
  const FormAttributes names = attributes_of(form);
  CudnnDescriptor operation(library, names.type);
  // Integer engines use the bits of alpha as an integer factor (cuDNN 9.19 on an H100).
  const float alpha = s.int8 ? std::bit_cast<float>(std::int32_t{1}) : 1.0F;
  operation.set(names.alpha, AttributeType::kFloat, {alpha})
      .set(names.beta, AttributeType::kFloat, {0.0F})
      .set(names.convolution, how)
      .set(names.x, x)
      .set(names.w, w)
      .set(names.y, y)
      .finalize("a convolution's operation");
  CudnnDescriptor graph(library, DescriptorType::kGraph);
  graph.set(Attribute::kGraphOperations, operation);
  if (library.handle())
    graph.set(Attribute::kGraphHandle, AttributeType::kHandle, {library.handle()});
  graph.finalize("a convolution's graph");
  return graph;
}

/// Engine configurations, best first; empty where the heuristics return none.
std::vector<CudnnDescriptor> configurations(const Cudnn& library, const CudnnDescriptor& graph,
                                            HeuristicsMode mode) {
  CudnnDescriptor heuristics(library, DescriptorType::kHeuristics);
  heuristics.set(Attribute::kHeuristicsGraph, graph)
      .set(Attribute::kHeuristicsMode, AttributeType::kHeuristicsMode, {mode});
  if (library.described_device())
    heuristics.set(Attribute::kHeuristicsDevice, AttributeType::kDescriptor,
                   {library.described_device()});
  if (heuristics.try_finalize() != Status::kSuccess) return {};
  std::int64_t count = 0;
  auto get = [&](std::int64_t wanted, Descriptor* to) {
    library.check(library.get_attribute(heuristics.get(), Attribute::kHeuristicsResults,
                                        AttributeType::kDescriptor, wanted, &count, to),
                  "the heuristics' results");
  };
  get(0, nullptr);
  std::vector<CudnnDescriptor> all;
  std::vector<Descriptor> places;
  for (std::int64_t i = 0; i < count; ++i) {
    all.emplace_back(library, DescriptorType::kEngineConfiguration);
    places.push_back(all.back().get());
  }
  // The number above is an upper limit; fewer may be filled.
  if (count > 0) get(count, places.data());
  all.resize(static_cast<std::size_t>(count));
  return all;
}

std::string text_of(ConvolutionForm form, NumberFormat format, const ConvolutionShape& s) {
  const char* const forms[] = {"forward", "by data", "by weights"};
  const char* const formats[] = {"FP32", "TF32", "BF16", "FP16"};
  return fmt::format("{}x{}x{}x{} with {} filters of {}x{}, stride {}, padding {}, {}, {}{}",
                     s.images, s.height, s.width, s.channels, s.filters, s.kernel, s.kernel,
                     s.stride, s.padding, forms[static_cast<int>(form)],
                     s.int8 ? "INT8" : formats[static_cast<int>(format)],
                     s.channels_first ? ", as NCHW" : "");
}

}  // namespace

ConvolutionPlan::ConvolutionPlan(const Cudnn& library, ConvolutionForm form, NumberFormat format,
                                 const ConvolutionShape& shape, std::int64_t most_workspace_bytes)
    : library_(library), int8_(shape.int8) {
  HEADWAY_INVARIANT(!shape.int8 || form == ConvolutionForm::kForward);
  if (shape.images < 1 || shape.channels < 1 || shape.filters < 1 || shape.kernel < 1 ||
      shape.stride < 1 || shape.padding < 0 || shape.out(shape.height) < 1 ||
      shape.out(shape.width) < 1)
    fail_internal("Convolution {}: there is no result.", text_of(form, format, shape));
  const CudnnDescriptor graph = operation_graph(library, form, format, shape);
  if (choose(graph, HeuristicsMode::kA, format, most_workspace_bytes)) return;
  if (choose(graph, HeuristicsMode::kFallback, format, most_workspace_bytes)) return;
  fail_internal(
      "Convolution {}: cuDNN {} has no engine for it within {} MiB of workspace ({} passed "
      "over{}{}).",
      text_of(form, format, shape), library.version(), most_workspace_bytes >> 20, passed_over_,
      last_refusal_.empty() ? "" : "; it says: ", last_refusal_);
}

bool ConvolutionPlan::choose(const CudnnDescriptor& graph, HeuristicsMode mode, NumberFormat format,
                             std::int64_t most_workspace_bytes) {
  for (CudnnDescriptor& configuration : configurations(library_, graph, mode)) {
    if (fits(configuration, format) && take(configuration, most_workspace_bytes)) {
      configuration_ = std::move(configuration);
      return true;
    }
    ++passed_over_;
  }
  return false;
}

/// Whether the engine's notes show that its numbers are those of the format.
bool ConvolutionPlan::fits(const CudnnDescriptor& configuration, NumberFormat format) const {
  if (int8_ || data_type(format) != DataType::kFloat32) return true;
  const CudnnDescriptor engine(library_, DescriptorType::kEngine);
  Descriptor place = engine.get();
  std::int64_t count = 0;
  library_.check(library_.get_attribute(configuration.get(), Attribute::kConfigurationEngine,
                                        AttributeType::kDescriptor, 1, &count, &place),
                 "a configuration's engine");
  Note notes[kMostNotes];
  library_.check(library_.get_attribute(engine.get(), Attribute::kEngineNumericalNotes,
                                        AttributeType::kNumericalNote, kMostNotes, &count, notes),
                 "an engine's numerical notes");
  return std::none_of(notes, notes + std::min<std::int64_t>(count, kMostNotes), [&](Note note) {
    return note == Note::kDownConvertsInputs ||
           (note == Note::kTensorCore && format == NumberFormat::kFloat32);
  });
}

/// Makes the plan; returns false when the engine refuses, which some do although the heuristics
/// list them.
bool ConvolutionPlan::take(const CudnnDescriptor& configuration,
                           std::int64_t most_workspace_bytes) {
  CudnnDescriptor plan(library_, DescriptorType::kPlan);
  plan.set(Attribute::kPlanConfiguration, configuration);
  if (library_.described_device()) {
    plan.set(Attribute::kPlanDevice, AttributeType::kDescriptor, {library_.described_device()});
  } else {
    plan.set(Attribute::kPlanHandle, AttributeType::kHandle, {library_.handle()});
  }
  if (plan.try_finalize() != Status::kSuccess) {
    last_refusal_ = library_.last_error();
    return false;
  }
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  library_.check(library_.get_attribute(plan.get(), Attribute::kPlanWorkspaceBytes,
                                        AttributeType::kInt64, 1, &count, &bytes),
                 "a plan's workspace");
  if (bytes > most_workspace_bytes) return false;
  plan_ = std::move(plan);
  workspace_bytes_ = bytes;
  return true;
}

CudnnDescriptor ConvolutionPlan::bind(const ConvolutionArrays& arrays) const {
  for (const void* array : {arrays.x, arrays.w, arrays.y})
    if (!array || reinterpret_cast<std::uintptr_t>(array) % 16 != 0)
      fail_internal("Convolution: an array is at {}, which is null or no multiple of 16 bytes.",
                    array);
  if (workspace_bytes_ > 0 && !arrays.workspace)
    fail_internal("Convolution: its workspace of {} bytes is null.", workspace_bytes_);
  CudnnDescriptor bound(library_, DescriptorType::kVariantPack);
  bound.set(Attribute::kVariantIds, {kX, kW, kY})
      .set(Attribute::kVariantPointers, AttributeType::kPointer, {arrays.x, arrays.w, arrays.y})
      .set(Attribute::kVariantWorkspace, AttributeType::kPointer, {arrays.workspace})
      .finalize("a convolution's arguments");
  return bound;
}

void ConvolutionPlan::run(CUstream stream, const CudnnDescriptor& bound) const {
  library_.use_stream(stream);
  library_.check(library_.execute(library_.handle(), plan_.get(), bound.get()),
                 "cudnnBackendExecute");
}

}  // namespace headway::cuda
