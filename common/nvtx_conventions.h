// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// What a program may state about itself through standard NVTX, so that Headway need not guess
/// (docs/reference/nvtx-conventions.md). Everything is an extended payload whose schema is
/// registered in the domain "headway": any NVTX tool can show it. Consumers recognise a schema by
/// its *name* and a field by its *name*, so producers may leave fields out, reorder them, or be
/// written in another language. The structs below are the payloads of our own producers; `*_fields`
/// declare their layout once.
namespace headway::conventions {

inline constexpr std::string_view kDomain = "headway";

enum class FieldType : std::uint8_t { kUint32, kInt64, kUint64, kChars };

struct Field {
  std::string_view name;
  FieldType type;
  std::size_t offset;
  std::size_t array_length;  ///< for kChars and fixed arrays; 0 for a scalar
};

inline constexpr std::int64_t kAbsent = -1;  ///< "does not apply" in op, batch, step

// ---- "headway.range": on a push/pop range; says what the range is
// --------------------------------------
enum class RangeKind : std::uint8_t {
  kOther = 0,
  kStep = 1,       ///< one training step on the training thread
  kPhase = 2,      ///< a phase of the step (see Phase)
  kOp = 3,         ///< the host side of one graph op (its launches lie inside)
  kInputWait = 4,  ///< the training thread waits for batch `batch`
  kBatch = 5,      ///< a loader worker makes batch `batch`, from first read to hand-over
  kRead = 6,       ///< loader stage: bytes from storage
  kDecode = 7,     ///< loader stage: decompress, parse
  kAugment = 8,    ///< loader stage: random transforms, normalisation
  kCollate = 9,    ///< loader stage: assemble, pin
  kSample = 10,    ///< on a mark: its name is the stack of the thread, innermost frame first
};
enum class Phase : std::uint8_t {
  kNone = 0,
  kInput = 1,
  kForward = 2,
  kBackward = 3,
  kUpdate = 4,  ///< optimizer
  kCommunication = 5,
  kEvaluation = 6,
};

inline constexpr std::string_view kRangeSchema = "headway.range";
struct RangePayload {
  std::uint32_t kind = 0;     ///< RangeKind
  std::uint32_t phase = 0;    ///< Phase
  std::int64_t op = kAbsent;  ///< graph op id
  std::int64_t batch = kAbsent;
  std::int64_t step = kAbsent;
  std::int64_t bytes = 0;
  std::int64_t flops = 0;
};
inline constexpr Field kRangeFields[] = {
    {"kind", FieldType::kUint32, offsetof(RangePayload, kind), 0},
    {"phase", FieldType::kUint32, offsetof(RangePayload, phase), 0},
    {"op", FieldType::kInt64, offsetof(RangePayload, op), 0},
    {"batch", FieldType::kInt64, offsetof(RangePayload, batch), 0},
    {"step", FieldType::kInt64, offsetof(RangePayload, step), 0},
    {"bytes", FieldType::kInt64, offsetof(RangePayload, bytes), 0},
    {"flops", FieldType::kInt64, offsetof(RangePayload, flops), 0},
};

// ---- "headway.device_op": on a push/pop range that *is* the execution of an op on a non-CUDA
// device -----
enum class DeviceOpKind : std::uint8_t {
  kKernel = 1,
  kCopyHostToDevice = 2,
  kCopyDeviceToHost = 3,
  kCopyDeviceToDevice = 4,
  kMemset = 5,
  kCommunication = 6,
  kCopyPeer = 7,
  kCopyHostToHost = 8,
};
enum class MemoryKind : std::uint8_t {
  kUnknown = 0,
  kPageable = 1,
  kPinned = 2,
  kDevice = 3,
  kManaged = 4
};
enum class MathUnit : std::uint8_t { kUnknown = 0, kGeneral = 1, kTensor = 2 };

inline constexpr std::string_view kDeviceOpSchema = "headway.device_op";
struct DeviceOpPayload {
  std::uint32_t kind = 0;  ///< DeviceOpKind
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::uint32_t phase = 0;  ///< Phase
  std::uint64_t correlation =
      0;  ///< equals that of the call that enqueued it; unique in the process
  std::int64_t op = kAbsent;
  std::int64_t batch = kAbsent;
  std::int64_t bytes = 0;  ///< bytes moved: memory read + written for kernels, copied for copies
  std::int64_t flops = 0;
  std::uint32_t source_memory = 0;       ///< MemoryKind, copies only
  std::uint32_t destination_memory = 0;  ///< MemoryKind, copies and memsets
  std::uint32_t math_unit = 0;           ///< MathUnit
  std::uint32_t reserved = 0;
};
inline constexpr Field kDeviceOpFields[] = {
    {"kind", FieldType::kUint32, offsetof(DeviceOpPayload, kind), 0},
    {"device", FieldType::kUint32, offsetof(DeviceOpPayload, device), 0},
    {"stream", FieldType::kUint32, offsetof(DeviceOpPayload, stream), 0},
    {"phase", FieldType::kUint32, offsetof(DeviceOpPayload, phase), 0},
    {"correlation", FieldType::kUint64, offsetof(DeviceOpPayload, correlation), 0},
    {"op", FieldType::kInt64, offsetof(DeviceOpPayload, op), 0},
    {"batch", FieldType::kInt64, offsetof(DeviceOpPayload, batch), 0},
    {"bytes", FieldType::kInt64, offsetof(DeviceOpPayload, bytes), 0},
    {"flops", FieldType::kInt64, offsetof(DeviceOpPayload, flops), 0},
    {"source_memory", FieldType::kUint32, offsetof(DeviceOpPayload, source_memory), 0},
    {"destination_memory", FieldType::kUint32, offsetof(DeviceOpPayload, destination_memory), 0},
    {"math_unit", FieldType::kUint32, offsetof(DeviceOpPayload, math_unit), 0},
};

// ---- "headway.device_call": on a push/pop range around a host call to a non-CUDA device
// -----------------
enum class DeviceCallKind : std::uint8_t {
  kOther = 0,
  kLaunch = 1,
  kCopy = 2,          ///< asynchronous: returns before the copy is done
  kCopyBlocking = 3,  ///< returns when the copy is done
  kMemset = 4,
  kEventRecord = 5,
  kStreamWaitEvent = 6,
  kEventSynchronize = 7,
  kStreamSynchronize = 8,
  kDeviceSynchronize = 9,
  kAllocate = 10,
  kFree = 11,
  kGraphLaunch = 12,
};

inline constexpr std::string_view kDeviceCallSchema = "headway.device_call";
struct DeviceCallPayload {
  std::uint32_t kind = 0;  ///< DeviceCallKind
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::uint32_t reserved = 0;
  std::uint64_t correlation = 0;  ///< of the op it enqueues; 0: enqueues nothing
  std::uint64_t sync_id = 0;  ///< event calls: the id of the *record* made or waited for; 0: none
  std::int64_t bytes = 0;
};
inline constexpr Field kDeviceCallFields[] = {
    {"kind", FieldType::kUint32, offsetof(DeviceCallPayload, kind), 0},
    {"device", FieldType::kUint32, offsetof(DeviceCallPayload, device), 0},
    {"stream", FieldType::kUint32, offsetof(DeviceCallPayload, stream), 0},
    {"correlation", FieldType::kUint64, offsetof(DeviceCallPayload, correlation), 0},
    {"sync_id", FieldType::kUint64, offsetof(DeviceCallPayload, sync_id), 0},
    {"bytes", FieldType::kInt64, offsetof(DeviceCallPayload, bytes), 0},
};

// ---- Marks that describe the run; sent once, before the first step
// ---------------------------------------
/// "headway.graph_op": one node of the model's op graph.
inline constexpr std::string_view kGraphOpSchema = "headway.graph_op";
inline constexpr std::size_t kMaxGraphInputs = 8;
struct GraphOpPayload {
  std::int64_t op = kAbsent;
  std::int64_t forward_op = kAbsent;  ///< for a backward or update op: the forward op it belongs to
  std::uint32_t phase = 0;            ///< Phase
  std::uint32_t input_count = 0;
  std::int64_t inputs[kMaxGraphInputs] = {};  ///< producers, by op id
  std::int64_t flops = 0;
  std::int64_t bytes = 0;         ///< memory read + written by an ideal execution of this op alone
  std::int64_t output_bytes = 0;  ///< size of its result
  char type[32] = {};             ///< "conv2d", "batch_norm", "relu", "add", "sgd_momentum", …
  char name[96] = {};             ///< "layer1.0.conv1"
  char shape[64] = {};            ///< of the result: "32x28x28x16"
};
inline constexpr Field kGraphOpFields[] = {
    {"op", FieldType::kInt64, offsetof(GraphOpPayload, op), 0},
    {"forward_op", FieldType::kInt64, offsetof(GraphOpPayload, forward_op), 0},
    {"phase", FieldType::kUint32, offsetof(GraphOpPayload, phase), 0},
    {"input_count", FieldType::kUint32, offsetof(GraphOpPayload, input_count), 0},
    {"inputs", FieldType::kInt64, offsetof(GraphOpPayload, inputs), kMaxGraphInputs},
    {"flops", FieldType::kInt64, offsetof(GraphOpPayload, flops), 0},
    {"bytes", FieldType::kInt64, offsetof(GraphOpPayload, bytes), 0},
    {"output_bytes", FieldType::kInt64, offsetof(GraphOpPayload, output_bytes), 0},
    {"type", FieldType::kChars, offsetof(GraphOpPayload, type), sizeof(GraphOpPayload::type)},
    {"name", FieldType::kChars, offsetof(GraphOpPayload, name), sizeof(GraphOpPayload::name)},
    {"shape", FieldType::kChars, offsetof(GraphOpPayload, shape), sizeof(GraphOpPayload::shape)},
};

/// "headway.device": a device that is not seen through CUPTI.
enum class DeviceType : std::uint8_t { kUnknown = 0, kCuda = 1, kHost = 2, kSimulated = 3 };
inline constexpr std::string_view kDeviceSchema = "headway.device";
struct DevicePayload {
  std::uint32_t device = 0;
  std::uint32_t type = 0;   ///< DeviceType
  std::uint32_t cores = 0;  ///< threads (host) or multiprocessors that share one op
  std::uint32_t reserved = 0;
  char name[64] = {};
};
inline constexpr Field kDeviceFields[] = {
    {"device", FieldType::kUint32, offsetof(DevicePayload, device), 0},
    {"type", FieldType::kUint32, offsetof(DevicePayload, type), 0},
    {"cores", FieldType::kUint32, offsetof(DevicePayload, cores), 0},
    {"name", FieldType::kChars, offsetof(DevicePayload, name), sizeof(DevicePayload::name)},
};

/// "headway.stream": a named stream of such a device.
inline constexpr std::string_view kStreamSchema = "headway.stream";
struct StreamPayload {
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  char name[32] = {};
};
inline constexpr Field kStreamFields[] = {
    {"device", FieldType::kUint32, offsetof(StreamPayload, device), 0},
    {"stream", FieldType::kUint32, offsetof(StreamPayload, stream), 0},
    {"name", FieldType::kChars, offsetof(StreamPayload, name), sizeof(StreamPayload::name)},
};

/// "headway.setting": one effective setting of the run, so that advice can show its current value.
inline constexpr std::string_view kSettingSchema = "headway.setting";
/// The setting for the share of padding in the batches, "0.34": of all elements when each sample is
/// padded to the longest one of its batch, over the batches that the program looked at.
inline constexpr std::string_view kPaddingSetting = "padding";
struct SettingPayload {
  char name[48] = {};
  char value[80] = {};
};
inline constexpr Field kSettingFields[] = {
    {"name", FieldType::kChars, offsetof(SettingPayload, name), sizeof(SettingPayload::name)},
    {"value", FieldType::kChars, offsetof(SettingPayload, value), sizeof(SettingPayload::value)},
};

struct Schema {
  std::string_view name;
  std::size_t size;  ///< bytes of the whole payload
  std::span<const Field> fields;
};
inline constexpr Schema kSchemas[] = {
    {kRangeSchema, sizeof(RangePayload), kRangeFields},
    {kDeviceOpSchema, sizeof(DeviceOpPayload), kDeviceOpFields},
    {kDeviceCallSchema, sizeof(DeviceCallPayload), kDeviceCallFields},
    {kGraphOpSchema, sizeof(GraphOpPayload), kGraphOpFields},
    {kDeviceSchema, sizeof(DevicePayload), kDeviceFields},
    {kStreamSchema, sizeof(StreamPayload), kStreamFields},
    {kSettingSchema, sizeof(SettingPayload), kSettingFields},
};

}  // namespace headway::conventions
