// SPDX-License-Identifier: MIT
#include "collector/pytorch/native/nvtx.h"

#include "collector/pytorch/native/sampler.h"

#include <dlfcn.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace headway::pytorch {
namespace {

nvtxDomainHandle_t g_domain = nullptr;
std::uint64_t g_range_schema = 0;
std::uint64_t g_setting_schema = 0;
std::uint32_t g_forks = 0;
int g_backward_passes = 0;
thread_local Thread t_thread;

constexpr std::size_t kMostFields = 16;

nvtxPayloadSchemaEntry_t entry_of(const conventions::Field& field) {
  nvtxPayloadSchemaEntry_t entry{};
  entry.name = field.name.data();  // names are literals, so they end with a zero
  entry.offset = field.offset;
  entry.arrayOrUnionDetail = field.array_length;
  entry.type = field.type == conventions::FieldType::kUint32  ? NVTX_PAYLOAD_ENTRY_TYPE_UINT32
               : field.type == conventions::FieldType::kInt64 ? NVTX_PAYLOAD_ENTRY_TYPE_INT64
               : field.type == conventions::FieldType::kUint64
                   ? NVTX_PAYLOAD_ENTRY_TYPE_UINT64
                   : NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
  return entry;
}

std::uint64_t register_schema(std::string_view name, const nvtxPayloadSchemaEntry_t* entries,
                              std::size_t count, std::size_t size) {
  nvtxPayloadSchemaAttr_t attributes{};
  attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  attributes.name = name.data();
  attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  attributes.entries = entries;
  attributes.numEntries = count;
  attributes.payloadStaticSize = size;
  return nvtxPayloadSchemaRegister(g_domain, &attributes);
}

template <std::size_t kCount>
std::size_t fill(nvtxPayloadSchemaEntry_t* entries, const conventions::Field (&fields)[kCount]) {
  static_assert(kCount < kMostFields);
  for (std::size_t i = 0; i < kCount; ++i) entries[i] = entry_of(fields[i]);
  return kCount;
}

nvtxEventAttributes_t event_with(const nvtxPayloadData_t& payload) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;  // number of payloads
  event.payload.ullValue = reinterpret_cast<std::uintptr_t>(&payload);
  return event;
}

void popped() {
  Thread& thread = this_thread();
  --thread.open;
  thread.containers = thread.containers < thread.open ? thread.containers : thread.open;
}

/// Copies a text, cut at a character boundary if needed; the copy always ends with a zero.
template <std::size_t kSize>
void copy_text(char (&to)[kSize], const char* text) {
  std::size_t count = std::strlen(text);
  if (count >= kSize) {
    count = kSize - 1;
    while (count > 0 && (static_cast<unsigned char>(text[count]) & 0xC0) == 0x80) --count;
  }
  std::memcpy(to, text, count);
  to[count] = '\0';
}

}  // namespace

bool Nvtx::start() {
  if (g_domain) return true;
  g_domain = nvtxDomainCreateA(conventions::kDomain.data());
  if (!g_domain) return false;
  nvtxPayloadSchemaEntry_t entries[kMostFields];
  std::size_t count = fill(entries, conventions::kRangeFields);
  // The base subobject comes first, so its offsets are valid in the whole object.
  RangePayload payload;
  auto offset = reinterpret_cast<char*>(&payload.sequence) - reinterpret_cast<char*>(&payload);
  entries[count++] =
      entry_of({"sequence", conventions::FieldType::kInt64, static_cast<std::size_t>(offset), 0});
  g_range_schema = register_schema(conventions::kRangeSchema, entries, count, sizeof(RangePayload));
  count = fill(entries, conventions::kSettingFields);
  g_setting_schema = register_schema(conventions::kSettingSchema, entries, count,
                                     sizeof(conventions::SettingPayload));
  return true;
}

nvtxStringHandle_t Nvtx::intern(const char* text) {
  return g_domain ? nvtxDomainRegisterStringA(g_domain, text) : nullptr;
}

std::int32_t Nvtx::push(nvtxStringHandle_t name, const RangePayload& payload) {
  Thread& thread = this_thread();
  if (!g_domain) return thread.open;
  const nvtxPayloadData_t data{g_range_schema, sizeof payload, &payload};
  nvtxEventAttributes_t event = event_with(data);
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = name;
  nvtxDomainRangePushEx(g_domain, &event);
  return thread.open++;
}

std::int32_t Nvtx::push_container(nvtxStringHandle_t name, const RangePayload& payload) {
  const std::int32_t before = push(name, payload);
  Thread& thread = this_thread();
  if (thread.containers == thread.open - 1) thread.containers = thread.open;
  return before;
}

void Nvtx::pop_to(std::int32_t count) {
  while (this_thread().open > count && this_thread().open > 0) pop();
}

void Nvtx::pop() {
  if (!g_domain || this_thread().open == 0) return;
  nvtxDomainRangePop(g_domain);
  popped();
}

void Nvtx::pop(const RangePayload& payload) {
  if (!g_domain || this_thread().open == 0) return;
  const nvtxPayloadData_t data{g_range_schema, sizeof payload, &payload};
  nvtxRangePopPayload(g_domain, &data, 1);
  popped();
}

bool Nvtx::pause_cuda(bool pause) {
  // The driver or NVTX loads the tool; this module never does.
  const char* file = std::getenv("NVTX_INJECTION64_PATH");
  void* tool = file ? ::dlopen(file, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (!tool) return false;
  using PauseCuda = int (*)(int);
  const auto function = reinterpret_cast<PauseCuda>(::dlsym(tool, "headway_pause_cuda"));
  const bool changed = function && function(pause ? 1 : 0) != 0;
  ::dlclose(tool);
  return changed;
}

void Nvtx::mark_setting(const char* name, const char* value) {
  if (!g_domain) return;
  conventions::SettingPayload payload;
  copy_text(payload.name, name);
  copy_text(payload.value, value);
  const nvtxPayloadData_t data{g_setting_schema, sizeof payload, &payload};
  nvtxEventAttributes_t event = event_with(data);
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "setting";
  nvtxDomainMarkEx(g_domain, &event);
}

void Nvtx::mark_sample(nvtxStringHandle_t stack, std::int64_t time_us) {
  if (!g_domain) return;
  RangePayload payload;
  payload.kind = static_cast<std::uint32_t>(conventions::RangeKind::kSample);
  payload.batch = time_us;
  const nvtxPayloadData_t data{g_range_schema, sizeof payload, &payload};
  nvtxEventAttributes_t event = event_with(data);
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = stack;
  nvtxDomainMarkEx(g_domain, &event);
}

void Nvtx::name_this_thread(const char* name) {
  if (g_domain) nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), name);
}

Thread& this_thread() {
  if (t_thread.fork != g_forks) {
    t_thread = {};
    t_thread.fork = g_forks;
  }
  return t_thread;
}

void forked() {
  ++g_forks;
  g_backward_passes = 0;
  sampler_forked();
}

std::uint32_t forks() {
  return g_forks;
}

int backward_passes() {
  return g_backward_passes;
}

void add_backward_pass(int change) {
  g_backward_passes += change;
}

}  // namespace headway::pytorch
