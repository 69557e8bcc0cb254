// SPDX-License-Identifier: MIT
// A training loop on the CPU with a loader thread, marked with NVTX: steps, the wait for input, the
// loader's stages, and the work of the "device". The loader is slower than the step on purpose, so
// Headway reports input-bound. Build and run: see README.md. Without a recorder, a mark costs a few
// nanoseconds.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

// The fields that this program uses, named as in docs/reference/nvtx-conventions.md; all others
// are optional.
struct Range {
  uint32_t kind;
  int64_t batch, step, bytes;
};
struct Work {
  uint32_t kind;
  uint64_t correlation;
};  // serves device_call and device_op

nvtxDomainHandle_t domain;
uint64_t range_id, call_id, op_id;

nvtxPayloadSchemaEntry_t field(const char* name, uint64_t type, uint64_t offset) {
  nvtxPayloadSchemaEntry_t entry = {};
  entry.name = name;
  entry.type = type;
  entry.offset = offset;
  return entry;
}

uint64_t schema(const char* name, const std::vector<nvtxPayloadSchemaEntry_t>& fields,
                size_t size) {
  nvtxPayloadSchemaAttr_t attributes = {};
  attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  attributes.name = name;
  attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  attributes.entries = fields.data();
  attributes.numEntries = fields.size();
  attributes.payloadStaticSize = size;
  return nvtxPayloadSchemaRegister(domain, &attributes);
}

void declare() {  // once, before the first range
  constexpr auto kU32 = NVTX_PAYLOAD_ENTRY_TYPE_UINT32;
  constexpr auto kI64 = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
  constexpr auto kU64 = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
  domain = nvtxDomainCreateA("headway");
  range_id = schema(
      "headway.range",
      {field("kind", kU32, offsetof(Range, kind)), field("batch", kI64, offsetof(Range, batch)),
       field("step", kI64, offsetof(Range, step)), field("bytes", kI64, offsetof(Range, bytes))},
      sizeof(Range));
  std::vector<nvtxPayloadSchemaEntry_t> work = {
      field("kind", kU32, offsetof(Work, kind)),
      field("correlation", kU64, offsetof(Work, correlation))};
  call_id = schema("headway.device_call", work, sizeof(Work));
  op_id = schema("headway.device_op", work, sizeof(Work));
}

struct Marked {  // a push/pop range as long as the object lives
  template <class Payload>
  Marked(const char* name, uint64_t schema_id, Payload payload) {
    nvtxPayloadData_t data = {schema_id, sizeof payload, &payload};
    nvtxEventAttributes_t event = {};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = name;
    event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    event.reserved0 = 1;  // number of payloads
    event.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(&data);
    nvtxDomainRangePushEx(domain, &event);
  }
  ~Marked() { nvtxDomainRangePop(domain); }
};

void busy(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

void make_batch(int64_t batch) {  // the loader's worker
  Marked whole("batch", range_id, Range{5, batch, -1, 0});
  {
    Marked stage("read", range_id, Range{6, batch, -1, 65536});
    busy(6);
  }
  {
    Marked stage("decode", range_id, Range{7, batch, -1, 0});
    busy(2);
  }
}

void compute(const char* name, int ms) {  // on the processor: called and executed in one place
  static uint64_t correlation = 0;
  ++correlation;
  { Marked call("launch", call_id, Work{1, correlation}); }
  {
    Marked op(name, op_id, Work{1, correlation});
    busy(ms);
  }
}

int main() {
  declare();
  for (int64_t step = 0; step < 30; ++step) {
    std::thread worker(make_batch, step);
    Marked whole("step", range_id, Range{1, -1, step, 0});
    {
      Marked wait("wait for batch", range_id, Range{4, step, step, 0});
      worker.join();
    }
    compute("forward", 4);
    compute("backward", 8);
  }
}
