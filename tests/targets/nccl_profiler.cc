// SPDX-License-Identifier: MIT
// Drives a profiler plugin as NCCL does: communicators, collectives and point-to-point operations of
// the library that NCCL_PROFILER_PLUGIN names, and NVTX ranges as NCCL's beside them.
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstdio>
#include <cstdlib>

#include "collector/inject/nccl_plugin.h"

namespace {

namespace nccl = headway::inject::nccl;

struct AllReduce {
  std::uint64_t communicator;
  std::uint64_t bytes;
};

std::uint64_t register_schema(nvtxDomainHandle_t domain) {
  static const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", nullptr, 0, 0, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", nullptr, 0,
       offsetof(AllReduce, bytes), nullptr, nullptr}};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = 2;
  schema.payloadStaticSize = sizeof(AllReduce);
  return nvtxPayloadSchemaRegister(domain, &schema);
}

}  // namespace

int main() {
  const char* path = std::getenv("NCCL_PROFILER_PLUGIN");
  void* library = path ? ::dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  auto* plugin =
      library ? static_cast<const nccl::Profiler*>(::dlsym(library, "ncclProfiler_v5")) : nullptr;
  if (!plugin) {
    std::puts("no plugin");
    return 0;
  }
  nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
  const std::uint64_t schema = register_schema(domain);
  constexpr std::uint64_t kCommunicator = 0x1234'5678'9abc'def0;
  void* context = nullptr;
  int mask = 0;
  if (plugin->init(&context, kCommunicator, &mask, "world", 2, 8, 3, nullptr) != nccl::kSuccess)
    return 1;
  std::printf("mask %d\n", mask);
  // In a group NCCL orders by size: the second range's operation comes first.
  const std::size_t counts[] = {100, 2000};
  for (std::size_t count : counts) {
    AllReduce payload{kCommunicator, count * 4};
    nvtxPayloadData_t data{schema, sizeof payload, &payload};
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = "ncclAllReduce";
    event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    event.reserved0 = 1;
    event.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(&data);
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
  }
  void* handle = &context;
  nccl::EventDescription event{};
  event.type = nccl::kCollective;
  event.collective = {41, "AllReduce", nullptr, nullptr,  2000,   0, "ncclFloat32",
                      8,  16,          "RING",  "SIMPLE", nullptr};
  plugin->start(context, &handle, &event);
  std::printf("handle %d\n", handle != nullptr);
  nvtxRangePushA("profiled");
  event.collective.sequence = 42;
  event.collective.count = 100;
  event.collective.algorithm = "TREE";
  event.collective.protocol = "LL128";
  plugin->start(context, &handle, &event);
  event = {};
  event.type = nccl::kPointToPoint;
  event.point_to_point = {"Send", nullptr, "ncclBfloat16", 64, 5, 2, nullptr};
  plugin->start(context, &handle, &event);
  event = {};
  event.type = 1;  // a group: not asked for
  plugin->start(context, &handle, &event);
  plugin->start(nullptr, &handle, &event);  // of a communicator that was not accepted
  nvtxRangePop();
  plugin->record_state(handle, 1, nullptr);
  plugin->stop(handle);
  plugin->finalize(context);
}
