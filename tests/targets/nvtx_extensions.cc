// SPDX-License-Identifier: MIT
// NVTX's extensions as programs use them: nested, dynamic and union payloads, enumerations, counters,
// scopes, waits for user-defined locks.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSync.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <vector>

namespace {

using Entry = nvtxPayloadSchemaEntry_t;

template <std::size_t N>
std::uint64_t register_schema(nvtxDomainHandle_t domain, const char* name,
                              const Entry (&entries)[N], std::uint64_t type, std::size_t size) {
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.name = name;
  schema.type = type;
  schema.entries = entries;
  schema.numEntries = N;
  schema.payloadStaticSize = size;
  return nvtxPayloadSchemaRegister(domain, &schema);
}

void mark(nvtxDomainHandle_t domain, const char* name, const nvtxPayloadData_t* data,
          std::size_t count) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = name;
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = static_cast<std::int32_t>(count);
  event.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(data);
  nvtxDomainMarkEx(domain, &event);
}

std::uint64_t register_enum(nvtxDomainHandle_t domain, const char* name,
                            const nvtxPayloadEnum_t* values, std::size_t count, std::size_t size) {
  nvtxPayloadEnumAttr_t description{};
  description.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                          NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                          NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  description.name = name;
  description.entries = values;
  description.numEntries = count;
  description.sizeOfEnum = size;
  return nvtxPayloadEnumRegister(domain, &description);
}

enum class Mode : std::uint8_t { kTrain = 1, kEvaluate = 2 };

void nested(nvtxDomainHandle_t domain) {
  struct Shape {
    std::int32_t height;
    std::int32_t width;
  };
  struct Batch {
    std::uint8_t mode;
    std::uint8_t flags;
    std::uint16_t half;
    Shape shape;
    Shape crops[2];
    double scale;
  };
  const nvtxPayloadEnum_t modes[] = {{"train", 1, 0}, {"evaluate", 2, 0}};
  const nvtxPayloadEnum_t flags[] = {{"shuffled", 1, 1}, {"augmented", 2, 1}, {"cached", 4, 1}};
  std::uint64_t mode = register_enum(domain, "mode", modes, 2, 1);
  std::uint64_t flag = register_enum(domain, "flags", flags, 3, 1);
  const Entry shape_entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "height", nullptr, 0, 0, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "width", nullptr, 0, 0, nullptr, nullptr}};
  std::uint64_t shape = register_schema(domain, "shape", shape_entries,
                                        NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, sizeof(Shape));
  // Without offsets: natural alignment, also of what is nested.
  const Entry entries[] = {
      {0, mode, "mode", nullptr, 0, 0, nullptr, nullptr},
      {0, flag, "flags", nullptr, 0, 0, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16, "half", nullptr, 0, 0, nullptr, nullptr},
      {0, shape, "shape", nullptr, 0, 0, nullptr, nullptr},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, shape, "crops", nullptr, 2, 0, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "scale", nullptr, 0, 0, nullptr, nullptr}};
  std::uint64_t id =
      register_schema(domain, "nested", entries, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, sizeof(Batch));
  Batch batch{
      static_cast<std::uint8_t>(Mode::kEvaluate), 5, 0x3e00, {224, 256}, {{1, 2}, {3, 4}}, 0.25};
  nvtxPayloadData_t data{id, sizeof batch, &batch};
  mark(domain, "nested", &data, 1);
  batch.mode = 9;   // no name
  batch.flags = 8;  // neither
  mark(domain, "unnamed", &data, 1);
}

void dynamic(nvtxDomainHandle_t domain) {
  // A length, so many numbers, a text to its end, two lengths, a table, a registered text.
  const Entry entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "count", nullptr, 0, 0, nullptr, nullptr},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "values",
       nullptr, 0, 0, nullptr, nullptr},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "file",
       nullptr, 0, 0, nullptr, nullptr},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "dimensions",
       nullptr, 2, 0, nullptr, nullptr},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, NVTX_PAYLOAD_ENTRY_TYPE_INT8, "table", nullptr,
       3, 0, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "label", nullptr, 0, 0, nullptr,
       nullptr}};
  std::uint64_t id =
      register_schema(domain, "dynamic", entries, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, 0);
  std::vector<std::uint8_t> bytes;
  auto put = [&](const auto& value) {
    while (bytes.size() % sizeof value != 0) bytes.push_back(0);
    const auto* from = reinterpret_cast<const std::uint8_t*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  };
  put(std::uint32_t{3});
  for (std::uint16_t value : {7, 8, 9}) put(value);
  for (char c : {'a', '"', 'b', '\0'}) put(c);
  put(std::uint8_t{2});
  put(std::uint8_t{3});
  for (std::int8_t value : {1, 2, 3, -1, -2, -3}) put(value);
  put(nvtxDomainRegisterStringA(domain, "a label"));
  nvtxPayloadData_t data{id, bytes.size(), bytes.data()};
  mark(domain, "dynamic", &data, 1);
  // Cut off in the middle of the array.
  data.size = 7;
  mark(domain, "cut", &data, 1);
}

void unions(nvtxDomainHandle_t domain) {
  const Entry members[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "as integer", nullptr, 0, 0, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "as float", nullptr, 0, 0, nullptr, nullptr}};
  std::uint64_t value =
      register_schema(domain, "value", members, NVTX_PAYLOAD_SCHEMA_TYPE_UNION, 8);
  const Entry entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "which", nullptr, 0, 0, nullptr, nullptr},
      {0, value, "value", nullptr, 0, 8, nullptr, nullptr}};
  std::uint64_t id = register_schema(domain, "union", entries, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 16);
  struct {
    std::uint64_t which;
    double value;
  } payload{1, 2.5};
  nvtxPayloadData_t data{id, sizeof payload, &payload};
  mark(domain, "union", &data, 1);
}

/// The length of an array in another payload of the event.
void length_elsewhere(nvtxDomainHandle_t domain) {
  const Entry entries[] = {{NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX,
                            NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "row", nullptr, 1, 0, nullptr, nullptr}};
  std::uint64_t id = register_schema(domain, "row", entries, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, 0);
  const float row[] = {0.5f, 1.5f, 0.1f};
  const std::uint64_t length = 3;
  const nvtxPayloadData_t data[] = {{id, sizeof row, row},
                                    {NVTX_PAYLOAD_ENTRY_TYPE_UINT64, sizeof length, &length}};
  mark(domain, "length elsewhere", data, 2);
}

void counters(nvtxDomainHandle_t domain) {
  nvtxSemanticsCounter_t items{};
  items.header = {sizeof items, NVTX_SEMANTIC_ID_COUNTERS_V1, NVTX_COUNTER_SEMANTIC_VERSION,
                  nullptr};
  items.unit = "items";
  nvtxScopeAttr_t gpu{sizeof(nvtxScopeAttr_t), "node/GPU[CUDAID:1]", NVTX_SCOPE_ROOT, 0};
  nvtxCounterAttr_t attributes{};
  attributes.structSize = sizeof attributes;
  attributes.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
  attributes.name = "queue depth";
  attributes.description = "Batches that wait.";
  attributes.semantics = &items.header;
  std::uint64_t depth = nvtxCounterRegister(domain, &attributes);
  std::printf("same counter %d\n", depth == nvtxCounterRegister(domain, &attributes));
  for (int i = 0; i < 3; ++i) nvtxCounterSampleInt64(domain, depth, 10 - i);
  nvtxCounterSampleNoValue(domain, depth, NVTX_COUNTER_SAMPLE_ZERO);
  nvtxCounterSampleNoValue(domain, depth, NVTX_COUNTER_SAMPLE_UNAVAILABLE);

  attributes.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE;
  attributes.name = "loss";
  attributes.semantics = nullptr;
  attributes.counterId = NVTX_COUNTER_ID_STATIC_START + 5;
  std::uint64_t loss = nvtxCounterRegister(domain, &attributes);
  std::printf("given id %d\n", loss == attributes.counterId);
  nvtxCounterSampleFloat64(domain, loss, 0.75);
  const double by_reference = 0.5;
  nvtxCounterSample(domain, loss, &by_reference, sizeof by_reference);

  struct Memory {
    std::uint64_t used;
    float share;
  };
  nvtxSemanticsCounter_t bytes = items;
  bytes.unit = "bytes";
  const Entry entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "used", "Held by tensors.", 0, 0, &bytes.header, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "share", nullptr, 0, offsetof(Memory, share), nullptr,
       nullptr}};
  attributes.schemaId =
      register_schema(domain, "memory", entries, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, sizeof(Memory));
  attributes.name = "memory";
  attributes.scopeId = nvtxScopeRegister(domain, &gpu);
  attributes.counterId = NVTX_COUNTER_ID_NONE;
  std::uint64_t memory = nvtxCounterRegister(domain, &attributes);
  const Memory sample{1 << 30, 0.25f};
  nvtxCounterSample(domain, memory, &sample, sizeof sample);
  nvtxCounterSampleInt64(domain, 4711, 1);  // nobody registered it
}

void locks(nvtxDomainHandle_t domain) {
  nvtxSyncUserAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = "the cache's lock";
  nvtxSyncUser_t lock = nvtxDomainSyncUserCreate(domain, &attributes);
  nvtxRangePushA("around the lock");
  nvtxDomainSyncUserAcquireStart(lock);
  nvtxDomainSyncUserAcquireSuccess(lock);
  nvtxDomainSyncUserReleasing(lock);
  nvtxRangePop();
  nvtxDomainSyncUserDestroy(lock);
}

}  // namespace

int main() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("extended");
  nested(domain);
  dynamic(domain);
  unions(domain);
  length_elsewhere(domain);
  counters(domain);
  locks(domain);
}
