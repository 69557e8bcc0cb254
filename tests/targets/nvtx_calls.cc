// SPDX-License-Identifier: MIT
// Makes every kind of NVTX call once, in a known order.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <thread>

namespace {

nvtxEventAttributes_t attributes(const char* text) {
  nvtxEventAttributes_t result{};
  result.version = NVTX_VERSION;
  result.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  result.messageType = NVTX_MESSAGE_TYPE_ASCII;
  result.message.ascii = text;
  return result;
}

void push_pop(nvtxDomainHandle_t domain, const nvtxEventAttributes_t& event) {
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
}

void core() {
  nvtxMarkA("mark a");
  nvtxMarkW(L"mark w \u00e4\u20ac\U0001f600");
  nvtxEventAttributes_t mark = attributes("mark ex");
  mark.colorType = NVTX_COLOR_ARGB;
  mark.color = 0xff00ff80;
  mark.category = 70000;  // more than a record's 16 bits
  nvtxMarkEx(&mark);

  std::printf("levels %d", nvtxRangePushA("push a"));
  std::printf(" %d", nvtxRangePushW(L"push w \u00e4"));
  nvtxEventAttributes_t push = attributes("push ex");
  push.category = 7;
  std::printf(" %d", nvtxRangePushEx(&push));
  std::printf(" %d", nvtxRangePop());
  std::printf(" %d", nvtxRangePop());
  std::printf(" %d", nvtxRangePop());
  std::printf(" %d\n", nvtxRangePop());  // one too many

  nvtxRangeId_t a = nvtxRangeStartA("start a");
  nvtxRangeId_t w = nvtxRangeStartW(L"start w \u00e4");
  nvtxEventAttributes_t start = attributes("start ex");
  start.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  start.payload.llValue = -5;
  nvtxRangeId_t ex = nvtxRangeStartEx(&start);
  nvtxRangeEnd(a);
  std::thread([&] { nvtxRangeEnd(w); }).join();
  nvtxRangeEnd(ex);
  nvtxRangeEnd(nvtxRangeId_t{12345});  // never started

  nvtxNameCategoryA(7, "seventh");
  nvtxNameCategoryW(70000, L"far \u00e4");
  nvtxNameOsThreadA(static_cast<std::uint32_t>(::syscall(SYS_gettid)), "the main thread");
}

void domains() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("calls");
  std::printf("same domain %d\n", domain == nvtxDomainCreateW(L"calls"));
  nvtxStringHandle_t text = nvtxDomainRegisterStringA(domain, "registered");
  std::printf("same string %d\n", text == nvtxDomainRegisterStringA(domain, "registered"));
  nvtxStringHandle_t wide = nvtxDomainRegisterStringW(domain, L"registered w \u00e4");
  nvtxDomainNameCategoryA(domain, 3, "third");
  nvtxDomainNameCategoryW(domain, 4, L"fourth \u00e4");

  nvtxEventAttributes_t event = attributes(nullptr);
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = text;
  event.category = 3;
  push_pop(domain, event);
  event.message.registered = wide;
  nvtxDomainMarkEx(domain, &event);
  nvtxRangeId_t range = nvtxDomainRangeStartEx(domain, &event);
  nvtxDomainRangeEnd(domain, range);
  nvtxDomainDestroy(domain);
  event = attributes("after destroy");
  push_pop(domain, event);  // a handle stays valid for ever

  int other = 0;  // a handle of another tool
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = reinterpret_cast<nvtxStringHandle_t>(&other);
  push_pop(reinterpret_cast<nvtxDomainHandle_t>(&other), event);
}

void payload_types() {
  nvtxEventAttributes_t event = attributes("u64");
  event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  event.payload.ullValue = ~0ull;
  push_pop(nullptr, event);
  event = attributes("i64");
  event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  event.payload.llValue = -1234567890123;
  push_pop(nullptr, event);
  event = attributes("double");
  event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  event.payload.dValue = 0.5;
  push_pop(nullptr, event);
  event = attributes("u32");
  event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
  event.payload.uiValue = 4000000000u;
  push_pop(nullptr, event);
  event = attributes("i32");
  event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  event.payload.iValue = -7;
  push_pop(nullptr, event);
  event = attributes("float");
  event.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
  event.payload.fValue = 0.25f;
  push_pop(nullptr, event);
}

struct Batch {
  std::uint32_t id;
  float loss;
  std::int16_t shape[3];
  char model[8];
};

std::uint64_t register_batch(nvtxDomainHandle_t domain) {
  static const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "id", "of the batch", 0, offsetof(Batch, id), nullptr,
       nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "loss", nullptr, 0, offsetof(Batch, loss), nullptr,
       nullptr},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_INT16, "shape", nullptr, 3,
       offsetof(Batch, shape), nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "model", nullptr, sizeof(Batch::model),
       offsetof(Batch, model), nullptr, nullptr},
  };
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.name = "batch";
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = std::size(entries);
  schema.payloadStaticSize = sizeof(Batch);
  return nvtxPayloadSchemaRegister(domain, &schema);
}

void extended_payloads() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("payloads");
  std::uint64_t schema = register_batch(domain);
  std::printf("same schema %d\n", schema == register_batch(domain));
  Batch batch{9, 1.5f, {1, -2, 3}, "res\"net"};
  nvtxPayloadData_t data[] = {{schema, sizeof batch, &batch}, {schema, sizeof batch, &batch}};
  nvtxEventAttributes_t event = attributes("one payload");
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;
  event.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(data);
  push_pop(domain, event);
  event.message.ascii = "two payloads";
  event.reserved0 = 2;
  push_pop(domain, event);

  event = attributes("payload at the end");
  nvtxDomainRangePushEx(domain, &event);
  nvtxRangePopPayload(domain, data, 1);
  nvtxMarkPayload(domain, data, 1);
  nvtxRangePushPayload(domain, data, 1);
  nvtxDomainRangePop(domain);
  nvtxRangeId_t range = nvtxRangeStartPayload(domain, data, 1);
  nvtxRangeEndPayload(domain, range, data, 1);

  const char* text = "predefined";
  nvtxPayloadData_t predefined[] = {{NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, SIZE_MAX, text}};
  nvtxMarkPayload(domain, predefined, 1);
}

}  // namespace

int main() {
  core();
  domains();
  payload_types();
  extended_payloads();
  // Names that are trouble elsewhere.
  nvtxRangePushA("it's \"quoted\"; DROP TABLE NVTX_EVENTS; --\n\x1b[31m");
  nvtxRangePop();
  nvtxRangePushA(std::string(10'000, 'x').c_str());
  nvtxRangePop();
  nvtxRangePushA(std::string(40'000, 'y').c_str());  // over the limit
  nvtxRangePop();
  nvtxRangePushA("bad \xff utf-8");
  nvtxRangePop();
  nvtxRangePushA("");
  nvtxRangePop();
  nvtxRangePushA("left open");
}
