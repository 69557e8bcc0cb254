// SPDX-License-Identifier: MIT
// NCCL's profiler plugin (headway record --nccl-profiler). It records what NCCL's NVTX ranges lack,
// above all the sequence numbers by which the analyzer matches ranks. One mark per operation;
// nothing of proxies, steps or channels, which would be thousands of records.
#include "collector/inject/nccl_plugin.h"

#include <atomic>
#include <cstring>
#include <iterator>

#include "collector/inject/definitions.h"
#include "collector/inject/nvtx_handlers.h"
#include "collector/wire/nccl.h"

namespace headway::inject {
namespace {

struct Communicator {
  std::uint64_t id;
  std::int32_t rank;
  std::int32_t ranks;
};

// More communicators at once than any program has; further ones are not recorded. finalize frees
// one.
constexpr std::uint32_t kMaxCommunicators = 1024;
constinit Communicator g_communicators[kMaxCommunicators] = {};
constinit std::atomic<bool> g_taken[kMaxCommunicators] = {};
constinit std::atomic<std::uint32_t> g_domain{0};
constinit std::atomic<std::uint64_t> g_schema{0};

bool register_schema() {
  if (g_schema.load(std::memory_order_acquire) != 0) return true;
  nvtxPayloadSchemaEntry_t entries[std::size(wire::kNcclFields)] = {};
  for (std::size_t i = 0; i < std::size(wire::kNcclFields); ++i) {
    entries[i].type = wire::kNcclFields[i].type;
    entries[i].name = wire::kNcclFields[i].name;
    entries[i].offset = wire::kNcclFields[i].offset;
    entries[i].arrayOrUnionDetail = wire::kNcclFields[i].length;
  }
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.name = wire::kNcclSchema;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = std::size(entries);
  schema.payloadStaticSize = sizeof(wire::NcclOp);
  std::uint32_t domain = define_domain({wire::kNcclDomain, nullptr});
  std::uint64_t id = domain != 0 ? define_schema(static_cast<std::uint16_t>(domain), schema) : 0;
  g_domain.store(domain, std::memory_order_relaxed);
  g_schema.store(id, std::memory_order_release);
  return id != 0;
}

template <std::size_t N>
void copy_text(char (&to)[N], const char* from) {
  if (from) std::strncpy(to, from, N - 1);
}

int on_init(void** context, std::uint64_t communicator, int* mask, const char*, int, int ranks,
            int rank, void*) {
  *context = nullptr;
  *mask = 0;
  if (!start_recording()) return nccl::kSuccess;
  {
    Entry entry;
    if (!entry || !register_schema()) return nccl::kSuccess;
  }
  for (std::uint32_t i = 0; i < kMaxCommunicators; ++i) {
    if (g_taken[i].load(std::memory_order_relaxed) || g_taken[i].exchange(true)) continue;
    g_communicators[i] = {communicator, rank, ranks};
    *context = &g_communicators[i];
    *mask = static_cast<int>(nccl::kCollective | nccl::kPointToPoint);
    return nccl::kSuccess;
  }
  return nccl::kSuccess;
}

const Communicator* communicator_of(const void* context) {
  const auto* at = static_cast<const Communicator*>(context);
  return at >= g_communicators && at < g_communicators + kMaxCommunicators ? at : nullptr;
}

/// Gives no handle, so NCCL reports nothing more of the event.
int on_start(void* context, void** handle, nccl::EventDescription* description) {
  *handle = nullptr;
  const Communicator* communicator = communicator_of(context);
  if (!communicator) return nccl::kSuccess;
  wire::NcclOp op{};
  op.communicator = communicator->id;
  op.rank = communicator->rank;
  op.ranks = communicator->ranks;
  if (description->type == nccl::kCollective) {
    const nccl::Collective& c = description->collective;
    op.is_collective = 1;
    op.sequence = c.sequence;
    op.count = c.count;
    op.peer = c.root;
    op.channels = c.channels;
    op.warps = c.warps;
    copy_text(op.function, c.function);
    copy_text(op.dtype, c.dtype);
    copy_text(op.algorithm, c.algorithm);
    copy_text(op.protocol, c.protocol);
  } else if (description->type == nccl::kPointToPoint) {
    const nccl::PointToPoint& p = description->point_to_point;
    op.count = p.count;
    op.peer = p.peer;
    op.channels = p.channels;
    copy_text(op.function, p.function);
    copy_text(op.dtype, p.dtype);
  } else {
    return nccl::kSuccess;
  }
  Entry entry;
  ThreadState* thread = entry.thread();
  if (!thread) return nccl::kSuccess;
  const nvtxPayloadData_t blob{g_schema.load(std::memory_order_relaxed), sizeof op, &op};
  Event event = event_from(&blob, 1);
  mark(*thread, static_cast<std::uint16_t>(g_domain.load(std::memory_order_relaxed)), event);
  return nccl::kSuccess;
}

int on_stop(void*) {
  return nccl::kSuccess;
}

int on_state(void*, int, void*) {
  return nccl::kSuccess;
}

int on_finalize(void* context) {
  if (const Communicator* communicator = communicator_of(context))
    g_taken[communicator - g_communicators].store(false, std::memory_order_release);
  return nccl::kSuccess;
}

}  // namespace
}  // namespace headway::inject

extern "C" {
__attribute__((visibility("default"))) extern const headway::inject::nccl::Profiler ncclProfiler_v5;
const headway::inject::nccl::Profiler ncclProfiler_v5 = {
    "Headway",
    headway::inject::on_init,
    headway::inject::on_start,
    headway::inject::on_stop,
    headway::inject::on_state,
    headway::inject::on_finalize,
};
}
