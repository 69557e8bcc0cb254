// SPDX-License-Identifier: MIT
// A libcudnn.so.9 for machines without a GPU: convolutions in double precision on the memory of the fake driver
// (fake_cuda/), which is the host's. Strict: an attribute of the wrong type, a shape that does not fit, arrays that
// are not all NHWC or all NCHW, a descriptor used before it is finalised is refused. Its engines, best first: one that narrows its
// operands, one that rounds them to TF32, one that refuses to make a plan, one that wants too large a workspace, one
// that does as it is told and fills its workspace. FAKE_CUDNN_VERSION: the version that it says;
// FAKE_CUDNN_REFUSES=1: no engine makes a plan; FAKE_CUDNN_CALLS=FILE keeps the names of all calls.
#include <cuda.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/cudnn/api.h"
#include "tests/targets/fake_cudnn/convolve.h"

/// Of the fake driver (fake_cuda.cc).
extern "C" void fake_cuda_queue(CUstream stream, void (*work)(void*), void* argument);

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

using namespace headway::cuda::cudnn;
using fake_cudnn::Form;
using fake_cudnn::Geometry;

constexpr Status kBadParameter{2000}, kNotFinalized{2004}, kNotSupported{3000};

struct Held;
using Shared = std::shared_ptr<Held>;
struct Content {
  AttributeType type{};
  std::int64_t count = 0;
  std::vector<char> bytes;
  std::vector<Shared> parts;  // of descriptors: what was given lives on

  template <class T>
  T at(std::size_t i = 0) const {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof value);
    return value;
  }
};

enum Engine : int { kNarrowing, kTensorCore, kRefusing, kGreedy, kPlain };

struct Held {
  DescriptorType type{};
  bool finalized = false;
  std::map<Attribute, Content> content;
  Engine engine = kPlain;  // of an engine, a configuration, a plan
  Shared operation;        // of a configuration and what follows
  const Content& operator[](Attribute name) const { return content.at(name); }
  bool has(Attribute name) const { return content.contains(name); }
  const Held& part(Attribute name) const { return *content.at(name).parts.at(0); }
};

std::map<Descriptor, Shared> g_held;
std::string g_error;
int g_handles = 0;
CUstream g_stream = nullptr;

/// A convolution on its stream.
struct Waiting {
  Form form;
  fake_cudnn::Type type;
  bool tf32;
  Geometry geometry;
  void *x, *w, *y, *workspace;
  std::size_t workspace_bytes;
};
void run_waiting(void* argument) {
  const auto& [form, type, tf32, geometry, x, w, y, workspace, bytes] =
      *static_cast<Waiting*>(argument);
  if (bytes > 0) std::memset(workspace, 0xA5, bytes);  // whoever relies on it finds nonsense
  fake_cudnn::convolve(form, type, tf32, geometry, x, w, y);
}

Status refuse(Status status, std::string why) {
  g_error = std::move(why);
  return status;
}
void called(const char* name) {
  if (const char* file = std::getenv("FAKE_CUDNN_CALLS")) {
    if (std::FILE* out = std::fopen(file, "a")) {
      std::fprintf(out, "%s\n", name);
      std::fclose(out);
    }
  }
}

/// Which attributes a descriptor takes, of which type, how many.
struct Rule {
  DescriptorType of;
  Attribute name;
  AttributeType type;
  std::int64_t count;
  bool required = true;
};
using D = DescriptorType;
using A = Attribute;
using T = AttributeType;
constexpr Rule kRules[] = {
    {D::kTensor, A::kTensorDataType, T::kDataType, 1},
    {D::kTensor, A::kTensorDimensions, T::kInt64, 4},
    {D::kTensor, A::kTensorStrides, T::kInt64, 4},
    {D::kTensor, A::kTensorId, T::kInt64, 1},
    {D::kTensor, A::kTensorAlignment, T::kInt64, 1},
    {D::kConvolution, A::kConvolutionComputeType, T::kDataType, 1},
    {D::kConvolution, A::kConvolutionMode, T::kConvolutionMode, 1},
    {D::kConvolution, A::kConvolutionSpatialDimensions, T::kInt64, 1},
    {D::kConvolution, A::kConvolutionDilations, T::kInt64, 2},
    {D::kConvolution, A::kConvolutionStrides, T::kInt64, 2},
    {D::kConvolution, A::kConvolutionPrePaddings, T::kInt64, 2},
    {D::kConvolution, A::kConvolutionPostPaddings, T::kInt64, 2},
    {D::kForward, A::kForwardAlpha, T::kFloat, 1},
    {D::kForward, A::kForwardBeta, T::kFloat, 1},
    {D::kForward, A::kForwardConvolution, T::kDescriptor, 1},
    {D::kForward, A::kForwardW, T::kDescriptor, 1},
    {D::kForward, A::kForwardX, T::kDescriptor, 1},
    {D::kForward, A::kForwardY, T::kDescriptor, 1},
    {D::kBackwardData, A::kBackwardDataAlpha, T::kFloat, 1},
    {D::kBackwardData, A::kBackwardDataBeta, T::kFloat, 1},
    {D::kBackwardData, A::kBackwardDataConvolution, T::kDescriptor, 1},
    {D::kBackwardData, A::kBackwardDataW, T::kDescriptor, 1},
    {D::kBackwardData, A::kBackwardDataDx, T::kDescriptor, 1},
    {D::kBackwardData, A::kBackwardDataDy, T::kDescriptor, 1},
    {D::kBackwardWeights, A::kBackwardWeightsAlpha, T::kFloat, 1},
    {D::kBackwardWeights, A::kBackwardWeightsBeta, T::kFloat, 1},
    {D::kBackwardWeights, A::kBackwardWeightsConvolution, T::kDescriptor, 1},
    {D::kBackwardWeights, A::kBackwardWeightsDw, T::kDescriptor, 1},
    {D::kBackwardWeights, A::kBackwardWeightsX, T::kDescriptor, 1},
    {D::kBackwardWeights, A::kBackwardWeightsDy, T::kDescriptor, 1},
    {D::kGraph, A::kGraphHandle, T::kHandle, 1},
    {D::kGraph, A::kGraphOperations, T::kDescriptor, 1},
    {D::kHeuristics, A::kHeuristicsGraph, T::kDescriptor, 1},
    {D::kHeuristics, A::kHeuristicsMode, T::kHeuristicsMode, 1},
    {D::kPlan, A::kPlanHandle, T::kHandle, 1},
    {D::kPlan, A::kPlanConfiguration, T::kDescriptor, 1},
    {D::kVariantPack, A::kVariantIds, T::kInt64, 3},
    {D::kVariantPack, A::kVariantPointers, T::kPointer, 3},
    {D::kVariantPack, A::kVariantWorkspace, T::kPointer, 1},
};

std::size_t bytes_of(AttributeType type) {
  switch (type) {
    case T::kDataType:
    case T::kFloat:
    case T::kConvolutionMode:
    case T::kHeuristicsMode:
    case T::kNumericalNote:
      return 4;
    case T::kCharacter:
      return 1;
    default:
      return 8;
  }
}

bool dense(const Held& tensor, bool channels_first) {
  std::int64_t d[4], s[4];
  std::memcpy(d, tensor[A::kTensorDimensions].bytes.data(), sizeof d);
  std::memcpy(s, tensor[A::kTensorStrides].bytes.data(), sizeof s);
  if (s[0] != d[1] * d[2] * d[3]) return false;
  return channels_first ? s[1] == d[2] * d[3] && s[2] == d[3] && s[3] == 1
                        : s[1] == 1 && s[3] == d[1] && s[2] == d[1] * d[3];
}

struct Roles {
  Form form;
  Attribute convolution, x, w, y, alpha, beta;
};
Roles roles_of(DescriptorType type) {
  if (type == D::kForward)
    return {Form::kForward, A::kForwardConvolution, A::kForwardX,   A::kForwardW,
            A::kForwardY,   A::kForwardAlpha,       A::kForwardBeta};
  if (type == D::kBackwardData)
    return {Form::kBackwardData, A::kBackwardDataConvolution, A::kBackwardDataDx,
            A::kBackwardDataW,   A::kBackwardDataDy,          A::kBackwardDataAlpha,
            A::kBackwardDataBeta};
  return {Form::kBackwardWeights, A::kBackwardWeightsConvolution, A::kBackwardWeightsX,
          A::kBackwardWeightsDw,  A::kBackwardWeightsDy,          A::kBackwardWeightsAlpha,
          A::kBackwardWeightsBeta};
}

bool all_dense(const Held& operation, bool channels_first) {
  const Roles roles = roles_of(operation.type);
  for (const Attribute each : {roles.x, roles.w, roles.y})
    if (!dense(operation.part(each), channels_first)) return false;
  return true;
}

Geometry geometry(const Held& operation) {
  const Roles roles = roles_of(operation.type);
  const Content& x = operation.part(roles.x)[A::kTensorDimensions];
  const Content& w = operation.part(roles.w)[A::kTensorDimensions];
  const Content& y = operation.part(roles.y)[A::kTensorDimensions];
  const Held& how = operation.part(roles.convolution);
  using I = std::int64_t;
  return {x.at<I>(0),
          x.at<I>(2),
          x.at<I>(3),
          x.at<I>(1),
          w.at<I>(0),
          w.at<I>(2),
          w.at<I>(3),
          y.at<I>(2),
          y.at<I>(3),
          how[A::kConvolutionStrides].at<I>(0),
          how[A::kConvolutionPrePaddings].at<I>(0),
          !all_dense(operation, false)};
}

bool is_int8(const Held& operation) {
  return operation.part(roles_of(operation.type).x)[A::kTensorDataType].at<DataType>() ==
         DataType::kInt8;
}

Status check_operation(const Held& held) {
  const Roles roles = roles_of(held.type);
  if (is_int8(held) ? held[roles.alpha].at<std::int32_t>() != 1
                    : held[roles.alpha].at<float>() != 1)
    return refuse(kNotSupported, "only alpha 1, of integers as an integer");
  if (held[roles.beta].at<float>() != 0) return refuse(kNotSupported, "only beta 0");
  const Held &x = held.part(roles.x), &w = held.part(roles.w), &y = held.part(roles.y);
  for (const Held* each : {&x, &w, &y}) {
    if (each->type != D::kTensor) return refuse(kBadParameter, "an operand is no tensor");
    const bool sums = each == &y && is_int8(held);
    if (sums ? (*each)[A::kTensorDataType].at<DataType>() != DataType::kInt32
             : each->content.at(A::kTensorDataType).bytes != x.content.at(A::kTensorDataType).bytes)
      return refuse(kNotSupported, "the tensors' types differ");
  }
  if (is_int8(held) &&
      (held.type != D::kForward || x[A::kTensorDimensions].at<std::int64_t>(1) % 4 != 0 ||
       y[A::kTensorDimensions].at<std::int64_t>(1) % 4 != 0))
    return refuse(kNotSupported, "integers are convolved forward, in fours of channels");
  const DataType sums = held.part(roles.convolution)[A::kConvolutionComputeType].at<DataType>();
  if (sums != (is_int8(held) ? DataType::kInt32 : DataType::kFloat32))
    return refuse(kNotSupported, "sums of another type");
  if (!all_dense(held, false) && !all_dense(held, true))
    return refuse(kNotSupported, "the tensors are neither all NHWC nor all NCHW, dense");
  using I = std::int64_t;
  const auto extent = [](const Held& t, std::size_t i) { return t[A::kTensorDimensions].at<I>(i); };
  const Held& how = held.part(roles.convolution);
  if (how.type != D::kConvolution) return refuse(kBadParameter, "there is no convolution");
  bool fits =
      extent(x, 0) == extent(y, 0) && extent(x, 1) == extent(w, 1) && extent(y, 1) == extent(w, 0);
  for (std::size_t i = 0; i < 2; ++i) {
    const I all = extent(x, 2 + i) + how[A::kConvolutionPrePaddings].at<I>(i) +
                  how[A::kConvolutionPostPaddings].at<I>(i) - extent(w, 2 + i);
    fits &= extent(y, 2 + i) == all / how[A::kConvolutionStrides].at<I>(i) + 1;
    fits &= how[A::kConvolutionDilations].at<I>(i) == 1;
  }
  if (!fits) return refuse(kBadParameter, "the shapes do not fit together");
  return Status::kSuccess;
}

std::int64_t workspace_of(const Held& plan) {
  if (plan.engine == kGreedy) return std::int64_t{1} << 40;
  return plan.engine == kPlain ? 1000 : 0;
}

Status check_finalized(Held& held) {
  for (const Rule& rule : kRules)
    if (rule.of == held.type && rule.required && !held.has(rule.name))
      return refuse(kBadParameter,
                    "attribute " + std::to_string(static_cast<int>(rule.name)) + " is missing");
  switch (held.type) {
    case D::kForward:
    case D::kBackwardData:
    case D::kBackwardWeights:
      return check_operation(held);
    case D::kConvolution:
      if (held[A::kConvolutionMode].at<Mode>() != Mode::kCrossCorrelation)
        return refuse(kNotSupported, "not a convolution of a network");
      return Status::kSuccess;
    case D::kHeuristics:
      held.operation = held.part(A::kHeuristicsGraph)[A::kGraphOperations].parts[0];
      return Status::kSuccess;
    case D::kPlan: {
      const Held& configuration = held.part(A::kPlanConfiguration);
      held.engine = configuration.engine;
      held.operation = configuration.operation;
      if (held.engine == kRefusing || std::getenv("FAKE_CUDNN_REFUSES"))
        return refuse(kNotSupported, "this engine does not like this shape");
      return Status::kSuccess;
    }
    default:
      return Status::kSuccess;
  }
}

Shared find(Descriptor descriptor) {
  const auto found = g_held.find(descriptor);
  return found == g_held.end() ? nullptr : found->second;
}

fake_cudnn::Type type_of(const Held& operation) {
  switch (operation.part(roles_of(operation.type).x)[A::kTensorDataType].at<DataType>()) {
    case DataType::kFloat16:
      return fake_cudnn::Type::kFloat16;
    case DataType::kBfloat16:
      return fake_cudnn::Type::kBfloat16;
    case DataType::kInt8:
      return fake_cudnn::Type::kInt8;
    default:
      return fake_cudnn::Type::kFloat32;
  }
}

}  // namespace

FAKE std::size_t cudnnGetVersion() {
  const char* wanted = std::getenv("FAKE_CUDNN_VERSION");
  return wanted ? static_cast<std::size_t>(std::atoll(wanted)) : 91'900;
}
FAKE void cudnnGetLastErrorString(char* text, std::size_t bytes) {
  std::snprintf(text, bytes, "%s", g_error.c_str());
}
FAKE Status cudnnCreate(Handle* handle) {
  called("cudnnCreate");
  *handle = reinterpret_cast<Handle>(static_cast<std::uintptr_t>(0x1000 + ++g_handles));
  return Status::kSuccess;
}
FAKE Status cudnnDestroy(Handle) {
  called("cudnnDestroy");
  return Status::kSuccess;
}
FAKE Status cudnnSetStream(Handle handle, void* stream) {
  called("cudnnSetStream");
  g_stream = static_cast<CUstream>(stream);
  return handle ? Status::kSuccess : refuse(kBadParameter, "no handle");
}
FAKE Status cudnnBackendCreateDescriptor(DescriptorType type, Descriptor* descriptor) {
  called("cudnnBackendCreateDescriptor");
  auto held = std::make_shared<Held>();
  held->type = type;
  *descriptor = held.get();
  g_held[*descriptor] = std::move(held);
  return Status::kSuccess;
}
FAKE Status cudnnBackendDestroyDescriptor(Descriptor descriptor) {
  called("cudnnBackendDestroyDescriptor");
  return g_held.erase(descriptor) == 1 ? Status::kSuccess : refuse(kBadParameter, "unknown");
}
FAKE Status cudnnBackendSetAttribute(Descriptor descriptor, Attribute name, AttributeType type,
                                     std::int64_t count, const void* elements) {
  called("cudnnBackendSetAttribute");
  const Shared held = find(descriptor);
  if (!held || held->finalized || !elements) return refuse(kBadParameter, "not to be changed");
  const Rule* rule = nullptr;
  for (const Rule& each : kRules)
    if (each.of == held->type && each.name == name) rule = &each;
  if (!rule || rule->type != type || rule->count != count)
    return refuse(kBadParameter, "the attribute, its type or its count is wrong");
  Content content{type, count, {}, {}};
  const auto* from = static_cast<const char*>(elements);
  content.bytes.assign(from, from + static_cast<std::size_t>(count) * bytes_of(type));
  if (type == T::kDescriptor) {
    const Shared part = find(content.at<Descriptor>());
    if (!part || !part->finalized) return refuse(kNotFinalized, "a part is not finalised");
    content.parts.push_back(part);
  }
  held->content[name] = std::move(content);
  return Status::kSuccess;
}
FAKE Status cudnnBackendFinalize(Descriptor descriptor) {
  called("cudnnBackendFinalize");
  const Shared held = find(descriptor);
  if (!held || held->finalized) return refuse(kBadParameter, "not to be finalised");
  const Status status = check_finalized(*held);
  held->finalized = status == Status::kSuccess;
  return status;
}
FAKE Status cudnnBackendGetAttribute(Descriptor descriptor, Attribute name, AttributeType type,
                                     std::int64_t wanted, std::int64_t* count, void* elements) {
  called("cudnnBackendGetAttribute");
  const Shared held = find(descriptor);
  if (!held || !held->finalized) return refuse(kNotFinalized, "not finalised");
  if (held->type == D::kHeuristics && name == A::kHeuristicsResults && type == T::kDescriptor) {
    const bool best = (*held)[A::kHeuristicsMode].at<HeuristicsMode>() == HeuristicsMode::kA;
    const std::vector<Engine> engines =
        best ? std::vector<Engine>{kNarrowing, kTensorCore, kRefusing, kGreedy, kPlain}
             : std::vector<Engine>{kPlain};
    *count = static_cast<std::int64_t>(engines.size());
    for (std::int64_t i = 0; i < std::min(wanted, *count); ++i) {
      const Shared to = find(static_cast<Descriptor*>(elements)[i]);
      if (!to || to->type != D::kEngineConfiguration) return refuse(kBadParameter, "no place");
      to->engine = engines[static_cast<std::size_t>(i)];
      to->operation = held->operation;
      to->finalized = true;
    }
    return Status::kSuccess;
  }
  *count = 1;
  if (held->type == D::kEngineConfiguration && name == A::kConfigurationEngine && wanted == 1) {
    const Shared to = find(*static_cast<Descriptor*>(elements));
    if (!to || to->type != D::kEngine) return refuse(kBadParameter, "no place for an engine");
    to->engine = held->engine;
    to->finalized = true;
    return Status::kSuccess;
  }
  if (held->type == D::kEngine && name == A::kEngineNumericalNotes && type == T::kNumericalNote) {
    *count = held->engine == kNarrowing ? 2 : held->engine == kTensorCore ? 1 : 0;
    const Note notes[] = {Note::kTensorCore, Note::kDownConvertsInputs};
    std::memcpy(elements, notes, static_cast<std::size_t>(std::min(wanted, *count)) * sizeof(Note));
    return Status::kSuccess;
  }
  if (held->type == D::kPlan && name == A::kPlanWorkspaceBytes && type == T::kInt64) {
    *static_cast<std::int64_t*>(elements) = workspace_of(*held);
    return Status::kSuccess;
  }
  return refuse(kBadParameter, "there is nothing of this to be had");
}
FAKE Status cudnnBackendExecute(Handle handle, Descriptor plan_of, Descriptor pack_of) {
  called("cudnnBackendExecute");
  const Shared plan = find(plan_of), pack = find(pack_of);
  if (!handle || !plan || !pack || !plan->finalized || !pack->finalized || plan->type != D::kPlan ||
      pack->type != D::kVariantPack)
    return refuse(kBadParameter, "no handle, plan or arguments");
  const Held& operation = *plan->operation;
  const Roles roles = roles_of(operation.type);
  void* arrays[3] = {};
  const Attribute order[] = {roles.x, roles.w, roles.y};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto id = operation.part(order[i])[A::kTensorId].at<std::int64_t>();
    for (std::size_t k = 0; k < 3; ++k)
      if ((*pack)[A::kVariantIds].at<std::int64_t>(k) == id)
        arrays[i] = (*pack)[A::kVariantPointers].at<void*>(k);
    if (!arrays[i] || reinterpret_cast<std::uintptr_t>(arrays[i]) % 16 != 0)
      return refuse(kBadParameter, "an array is missing or not aligned");
  }
  const std::int64_t bytes = workspace_of(*plan);
  void* const workspace = (*pack)[A::kVariantWorkspace].at<void*>();
  if (bytes > 0 && !workspace) return refuse(kBadParameter, "no workspace");
  // Kept as long as the work may run: a captured convolution runs again and again.
  fake_cuda_queue(
      g_stream, run_waiting,
      new Waiting{roles.form, type_of(operation), plan->engine == kTensorCore, geometry(operation),
                  arrays[0], arrays[1], arrays[2], workspace, static_cast<std::size_t>(bytes)});
  return Status::kSuccess;
}
