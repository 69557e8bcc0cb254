// SPDX-License-Identifier: MIT
#include "tests/reference_trainer/nvtx_recorder.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>

namespace headway::test {
namespace {

struct Recorder {
  std::mutex mutex;
  bool recording = false;
  int unbalanced = 0;
  std::vector<NvtxEvent> events;
  std::map<std::int64_t, std::vector<std::ptrdiff_t>> open;  // by thread; -1: began before start()
  std::map<std::uint64_t, std::string> schema_names;
  std::map<std::string, std::map<std::string, std::size_t>> schema_fields;
  std::map<std::int64_t, std::string> thread_names;
  std::vector<std::unique_ptr<std::string>> strings;
};

Recorder& recorder() {
  static auto* const instance = new Recorder;  // outlives threads that end late
  return *instance;
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

NvtxEvent event_of(Recorder& r, const nvtxEventAttributes_t& attributes) {
  NvtxEvent event;
  event.thread = gettid();
  event.start_ns = now_ns();
  if (attributes.messageType == NVTX_MESSAGE_TYPE_REGISTERED && attributes.message.registered)
    event.name = *reinterpret_cast<const std::string*>(attributes.message.registered);
  if (attributes.messageType == NVTX_MESSAGE_TYPE_ASCII) event.name = attributes.message.ascii;
  if (attributes.payloadType == NVTX_PAYLOAD_TYPE_EXT && attributes.reserved0 == 1) {
    const auto* data = reinterpret_cast<const nvtxPayloadData_t*>(attributes.payload.ullValue);
    const auto* bytes = static_cast<const std::byte*>(data->payload);
    event.schema = r.schema_names[data->schemaId];
    event.payload.assign(bytes, bytes + data->size);
  }
  return event;
}

nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
  static int headway_domain = 0;
  return std::string(name) == "headway" ? reinterpret_cast<nvtxDomainHandle_t>(&headway_domain)
                                        : nullptr;
}

nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, const char* text) {
  Recorder& r = recorder();
  std::scoped_lock lock(r.mutex);
  r.strings.push_back(std::make_unique<std::string>(text));
  return reinterpret_cast<nvtxStringHandle_t>(r.strings.back().get());
}

int NVTX_API push_range(nvtxDomainHandle_t, const nvtxEventAttributes_t* attributes) {
  Recorder& r = recorder();
  std::scoped_lock lock(r.mutex);
  auto& stack = r.open[gettid()];
  const int depth = static_cast<int>(stack.size());
  if (!r.recording) {
    stack.push_back(-1);
    return depth;
  }
  r.events.push_back(event_of(r, *attributes));
  r.events.back().depth = depth;
  stack.push_back(static_cast<std::ptrdiff_t>(r.events.size()) - 1);
  return depth;
}

int NVTX_API pop_range(nvtxDomainHandle_t) {
  Recorder& r = recorder();
  std::scoped_lock lock(r.mutex);
  auto& stack = r.open[gettid()];
  if (stack.empty()) {
    ++r.unbalanced;
    return -1;
  }
  if (stack.back() >= 0) r.events[static_cast<std::size_t>(stack.back())].end_ns = now_ns();
  stack.pop_back();
  return static_cast<int>(stack.size());
}

void NVTX_API mark(nvtxDomainHandle_t, const nvtxEventAttributes_t* attributes) {
  Recorder& r = recorder();
  std::scoped_lock lock(r.mutex);
  if (!r.recording) return;
  r.events.push_back(event_of(r, *attributes));
  r.events.back().mark = true;
  r.events.back().end_ns = r.events.back().start_ns;
}

void NVTX_API name_thread(std::uint32_t thread, const char* name) {
  Recorder& r = recorder();
  std::scoped_lock lock(r.mutex);
  r.thread_names[thread] = name;
}

std::uint64_t NVTX_API register_schema(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t* schema) {
  Recorder& r = recorder();
  std::scoped_lock lock(r.mutex);
  const std::uint64_t id = NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + r.schema_names.size();
  r.schema_names[id] = schema->name;
  for (std::size_t i = 0; i < schema->numEntries; ++i)
    r.schema_fields[schema->name][schema->entries[i].name] = schema->entries[i].offset;
  return id;
}

int NVTX_API initialize(NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable core = nullptr;
  NvtxFunctionTable core2 = nullptr;
  unsigned int size = 0;
  if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &core, &size)) return 0;
  if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &core2, &size)) return 0;
  auto set = [](NvtxFunctionTable table, int id, auto function) {
    *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  };
  set(core, NVTX_CBID_CORE_NameOsThreadA, name_thread);
  set(core2, NVTX_CBID_CORE2_DomainCreateA, create_domain);
  set(core2, NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  set(core2, NVTX_CBID_CORE2_DomainRangePushEx, push_range);
  set(core2, NVTX_CBID_CORE2_DomainRangePop, pop_range);
  set(core2, NVTX_CBID_CORE2_DomainMarkEx, mark);
  return 1;
}

int NVTX_API initialize_extension(nvtxExtModuleInfo_t* module) {
  if (module->moduleId != NVTX_EXT_PAYLOAD_MODULEID || module->segmentsCount == 0) return 0;
  module->segments[0].functionSlots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] =
      reinterpret_cast<std::intptr_t>(register_schema);
  return 1;
}

/// NVTX's headers look at these weak variables at the program's first NVTX call, which is long
/// after static initialisation.
[[maybe_unused]] const bool installed = [] {
  InitializeInjectionNvtx2_fnptr = initialize;
  InitializeInjectionNvtxExtension_fnptr = initialize_extension;
  return true;
}();

}  // namespace

void NvtxRecorder::start() {
  Recorder& r = recorder();
  std::scoped_lock lock(r.mutex);
  r.events.clear();
  for (auto& [thread, stack] : r.open) std::ranges::fill(stack, -1);
  r.recording = true;
}

std::vector<NvtxEvent> NvtxRecorder::stop() {
  Recorder& r = recorder();
  std::scoped_lock lock(r.mutex);
  r.recording = false;
  for (auto& [thread, stack] : r.open) std::ranges::fill(stack, -1);
  return std::move(r.events);
}

int NvtxRecorder::unbalanced_pops() {
  std::scoped_lock lock(recorder().mutex);
  return recorder().unbalanced;
}

std::map<std::string, std::size_t> NvtxRecorder::fields(const std::string& schema) {
  std::scoped_lock lock(recorder().mutex);
  return recorder().schema_fields[schema];
}

std::map<std::int64_t, std::string> NvtxRecorder::thread_names() {
  std::scoped_lock lock(recorder().mutex);
  return recorder().thread_names;
}

}  // namespace headway::test
