// SPDX-License-Identifier: MIT
#include "reference_trainer/nvtx/emitter.h"

#include <pthread.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "common/error.h"

namespace headway::trainer::nvtx {
namespace {

nvtxPayloadSchemaEntry_t entry_of(const conventions::Field& field) {
  nvtxPayloadSchemaEntry_t entry{};
  entry.name = field.name.data();
  entry.offset = field.offset;
  entry.arrayOrUnionDetail = field.array_length;
  switch (field.type) {
    case conventions::FieldType::kUint32:
      entry.type = NVTX_PAYLOAD_ENTRY_TYPE_UINT32;
      break;
    case conventions::FieldType::kInt64:
      entry.type = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
      break;
    case conventions::FieldType::kUint64:
      entry.type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
      break;
    case conventions::FieldType::kChars:
      entry.type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
      break;
  }
  if (field.array_length > 0 && field.type != conventions::FieldType::kChars)
    entry.flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
  return entry;
}

std::uint64_t register_schema(nvtxDomainHandle_t domain, std::string_view name) {
  for (const conventions::Schema& schema : conventions::kSchemas) {
    if (schema.name != name) continue;
    std::vector<nvtxPayloadSchemaEntry_t> entries;
    for (const conventions::Field& field : schema.fields) entries.push_back(entry_of(field));
    nvtxPayloadSchemaAttr_t attributes{};
    attributes.fieldMask =
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    attributes.name = schema.name.data();  // string literals, so terminated
    attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    attributes.entries = entries.data();
    attributes.numEntries = entries.size();
    attributes.payloadStaticSize = schema.size;
    return nvtxPayloadSchemaRegister(domain, &attributes);
  }
  fail_internal("NVTX schema '{}' is not in common/nvtx_conventions.h.", name);
}

Emitter make_emitter() {
  Emitter emitter;
  emitter.domain = nvtxDomainCreateA(conventions::kDomain.data());
  if (!emitter.domain) return emitter;
  auto schema = [&](std::string_view name) { return register_schema(emitter.domain, name); };
  emitter.range_schema = schema(conventions::kRangeSchema);
  emitter.device_op_schema = schema(conventions::kDeviceOpSchema);
  emitter.device_call_schema = schema(conventions::kDeviceCallSchema);
  emitter.graph_op_schema = schema(conventions::kGraphOpSchema);
  emitter.device_schema = schema(conventions::kDeviceSchema);
  emitter.stream_schema = schema(conventions::kStreamSchema);
  emitter.setting_schema = schema(conventions::kSettingSchema);
  return emitter;
}

nvtxEventAttributes_t event(const nvtxPayloadData_t* payload) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  attributes.reserved0 = 1;  // number of payloads
  attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(payload);
  return attributes;
}

template <class Payload>
void mark(const char* message, std::uint64_t schema, const Payload& payload) {
  const Emitter& emitter = Emitter::get();
  if (!emitter.domain) return;
  const nvtxPayloadData_t data{schema, sizeof payload, &payload};
  nvtxEventAttributes_t attributes = event(&data);
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = message;
  nvtxDomainMarkEx(emitter.domain, &attributes);
}

thread_local Listener* thread_listener = nullptr;

}  // namespace

Listener* listener() {
  return thread_listener;
}

Listening::Listening(Listener* listener) : before_(thread_listener) {
  thread_listener = listener;
}

Listening::~Listening() {
  thread_listener = before_;
}

const Emitter& Emitter::get() {
  static const Emitter emitter = make_emitter();
  return emitter;
}

Name intern(const std::string& text) {
  static std::mutex mutex;
  static std::unordered_map<std::string, std::unique_ptr<InternedName>> names;
  const Emitter& emitter = Emitter::get();
  std::scoped_lock lock(mutex);
  auto& name = names[text];
  if (!name) {
    name = std::make_unique<InternedName>(InternedName{text, nullptr});
    if (emitter.domain) name->handle = nvtxDomainRegisterStringA(emitter.domain, text.c_str());
  }
  return name.get();
}

void name_this_thread(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
  nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), name.c_str());
}

void push(Name name, std::uint64_t schema, const void* payload, std::size_t size) {
  const nvtxPayloadData_t data{schema, size, payload};
  nvtxEventAttributes_t attributes = event(&data);
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = name->handle;
  nvtxDomainRangePushEx(Emitter::get().domain, &attributes);
}

void pop() {
  nvtxDomainRangePop(Emitter::get().domain);
}

void describe(const conventions::GraphOpPayload& op) {
  if (thread_listener) return thread_listener->describe(op);
  mark("graph op", Emitter::get().graph_op_schema, op);
}
void describe(const conventions::DevicePayload& device) {
  mark("device", Emitter::get().device_schema, device);
}
void describe(const conventions::StreamPayload& stream) {
  mark("stream", Emitter::get().stream_schema, stream);
}
void describe(const conventions::SettingPayload& setting) {
  mark("setting", Emitter::get().setting_schema, setting);
}

}  // namespace headway::trainer::nvtx
