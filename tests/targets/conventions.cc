// SPDX-License-Identifier: MIT
// A tiny "training run" that says everything common/nvtx_conventions.h provides for; the fields of the
// schema headway.range are registered in another order than Headway's own producers use.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "common/nvtx_conventions.h"

using namespace headway::conventions;

namespace {

nvtxDomainHandle_t g_domain;

std::uint64_t entry_type(FieldType type) {
  switch (type) {
    case FieldType::kUint32:
      return NVTX_PAYLOAD_ENTRY_TYPE_UINT32;
    case FieldType::kInt64:
      return NVTX_PAYLOAD_ENTRY_TYPE_INT64;
    case FieldType::kUint64:
      return NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
    case FieldType::kChars:
      return NVTX_PAYLOAD_ENTRY_TYPE_CHAR;
  }
  return NVTX_PAYLOAD_ENTRY_TYPE_INVALID;
}

std::uint64_t register_schema(const Schema& schema) {
  std::vector<nvtxPayloadSchemaEntry_t> entries;
  for (const Field& field : schema.fields) {
    nvtxPayloadSchemaEntry_t entry{};
    entry.type = entry_type(field.type);
    entry.name = field.name.data();
    entry.offset = field.offset;
    entry.arrayOrUnionDetail = field.array_length;
    if (field.array_length) entry.flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
    entries.push_back(entry);
  }
  // Found by name, wherever it stands. The first entry must be the one at offset 0.
  if (schema.name == kRangeSchema) std::swap(entries[1], entries[6]);
  nvtxPayloadSchemaAttr_t attributes{};
  attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  attributes.name = schema.name.data();
  attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  attributes.entries = entries.data();
  attributes.numEntries = entries.size();
  attributes.payloadStaticSize = schema.size;
  return nvtxPayloadSchemaRegister(g_domain, &attributes);
}

template <class Payload, class Call>
void with_payload(std::string_view schema, const char* text, const Payload& payload, Call call) {
  static std::map<std::string_view, std::uint64_t> ids = [] {
    std::map<std::string_view, std::uint64_t> result;
    for (const Schema& each : kSchemas) result[each.name] = register_schema(each);
    return result;
  }();
  nvtxPayloadData_t data{ids[schema], sizeof payload, &payload};
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = text;
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;
  event.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(&data);
  call(&event);
}

template <class Payload>
void mark(std::string_view schema, const Payload& payload) {
  with_payload(schema, "", payload,
               [](nvtxEventAttributes_t* event) { nvtxDomainMarkEx(g_domain, event); });
}

template <class Payload>
void push(std::string_view schema, const char* text, const Payload& payload) {
  with_payload(schema, text, payload,
               [](nvtxEventAttributes_t* event) { nvtxDomainRangePushEx(g_domain, event); });
}

void pop() {
  nvtxDomainRangePop(g_domain);
}

void describe_run() {
  DevicePayload device;
  device.type = static_cast<std::uint32_t>(DeviceType::kHost);
  device.cores = 2;
  std::strcpy(device.name, "host device");
  mark(kDeviceSchema, device);
  StreamPayload stream;
  stream.stream = 1;
  std::strcpy(stream.name, "compute");
  mark(kStreamSchema, stream);
  SettingPayload setting;
  std::strcpy(setting.name, "workers");
  std::strcpy(setting.value, "it's 4");
  mark(kSettingSchema, setting);
  GraphOpPayload op;
  op.op = 3;
  op.phase = static_cast<std::uint32_t>(Phase::kForward);
  op.input_count = 2;
  op.inputs[0] = 1;
  op.inputs[1] = 2;
  op.flops = 1000;
  op.bytes = 2000;
  op.output_bytes = 500;
  std::strcpy(op.type, "conv2d");
  std::strcpy(op.name, "layer1.conv1");
  std::strcpy(op.shape, "1x2x3");
  mark(kGraphOpSchema, op);
}

void step(std::int64_t number) {
  RangePayload range;
  range.kind = static_cast<std::uint32_t>(RangeKind::kStep);
  range.step = number;
  push(kRangeSchema, "step", range);
  RangePayload op;
  op.kind = static_cast<std::uint32_t>(RangeKind::kOp);
  op.phase = static_cast<std::uint32_t>(Phase::kForward);
  op.op = 3;
  op.batch = number;
  op.flops = 1000;
  push(kRangeSchema, "conv", op);
  DeviceCallPayload call;
  call.kind = static_cast<std::uint32_t>(DeviceCallKind::kLaunch);
  call.stream = 1;
  call.correlation = static_cast<std::uint64_t>(number) + 100;
  push(kDeviceCallSchema, "launch", call);
  pop();
  DeviceOpPayload device_op;
  device_op.kind = static_cast<std::uint32_t>(DeviceOpKind::kKernel);
  device_op.stream = 1;
  device_op.phase = op.phase;
  device_op.correlation = call.correlation;
  device_op.op = 3;
  device_op.batch = number;
  device_op.bytes = 2000;
  push(kDeviceOpSchema, "conv_kernel", device_op);
  pop();
  pop();
  pop();
}

}  // namespace

int main() {
  g_domain = nvtxDomainCreateA(kDomain.data());
  describe_run();
  for (std::int64_t i = 0; i < 3; ++i) step(i);
  RangePayload open;
  open.kind = static_cast<std::uint32_t>(RangeKind::kInputWait);
  open.batch = 99;
  push(kRangeSchema, "never ends", open);
}
