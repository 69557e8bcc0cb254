// SPDX-License-Identifier: MIT
// NVTX's synchronization objects: the wait for one is a range of its own domain, so that it cannot
// disturb the nesting of the program's ranges.
#include <cstdio>

#include "collector/inject/definitions.h"
#include "collector/inject/hot_path.h"
#include "collector/inject/nvtx_handlers.h"

namespace headway::inject {
namespace {

/// The domain of the wait ranges; made with the first synchronization object.
std::uint16_t wait_domain() {
  return static_cast<std::uint16_t>(define_domain({"NVTX sync", nullptr}));
}

/// The handle holds domain and text, because each wait needs both.
constexpr unsigned kDomainBits = 12;
static_assert(kMaxDomains == 1u << kDomainBits);

nvtxSyncUser_t on_create(nvtxDomainHandle_t, const nvtxSyncUserAttributes_t* attributes) {
  Entry entry;
  if (!entry || !attributes || attributes->size < sizeof *attributes) return nullptr;
  std::uint16_t domain = wait_domain();
  if (domain == 0) return nullptr;
  bool narrow = attributes->messageType == NVTX_MESSAGE_TYPE_ASCII;
  bool wide = attributes->messageType == NVTX_MESSAGE_TYPE_UNICODE;
  std::uint32_t text = 0;
  if (attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED)
    text = id_of(HandleKind::kString, attributes->message.registered);
  if (narrow) text = define_string(domain, {attributes->message.ascii, nullptr});
  if (wide) text = define_string(domain, {nullptr, attributes->message.unicode});
  if (text >> (32 - kDomainBits) != 0) text = 0;
  return make_handle<nvtxSyncUser_t>(HandleKind::kSync, text << kDomainBits | domain);
}

void on_destroy(nvtxSyncUser_t) {}

void on_acquire(nvtxSyncUser_t handle) {
  std::uint32_t id = id_of(HandleKind::kSync, handle);
  Entry entry;
  ThreadState* thread = id != 0 ? entry.thread() : nullptr;
  if (!thread) return;
  Event event;
  event.handle = id >> kDomainBits;
  push(*thread, static_cast<std::uint16_t>(id & (kMaxDomains - 1)), event);
}

void on_acquired(nvtxSyncUser_t handle) {
  std::uint32_t id = id_of(HandleKind::kSync, handle);
  Entry entry;
  ThreadState* thread = id != 0 ? entry.thread() : nullptr;
  if (thread) pop_plain(*thread, id & (kMaxDomains - 1));
}

void on_releasing(nvtxSyncUser_t) {}

}  // namespace

void fill_sync_slots(NvtxFunctionTable sync, unsigned size) {
  set_slot(sync, size, NVTX_CBID_SYNC_DomainSyncUserCreate, on_create);
  set_slot(sync, size, NVTX_CBID_SYNC_DomainSyncUserDestroy, on_destroy);
  set_slot(sync, size, NVTX_CBID_SYNC_DomainSyncUserAcquireStart, on_acquire);
  set_slot(sync, size, NVTX_CBID_SYNC_DomainSyncUserAcquireFailed, on_acquired);
  set_slot(sync, size, NVTX_CBID_SYNC_DomainSyncUserAcquireSuccess, on_acquired);
  set_slot(sync, size, NVTX_CBID_SYNC_DomainSyncUserReleasing, on_releasing);
}

}  // namespace headway::inject
