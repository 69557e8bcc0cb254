// SPDX-License-Identifier: MIT
#include "reference_trainer/nvtx/nccl_ranges.h"

#include <cstddef>

namespace headway::trainer::nvtx {
namespace {

struct CommunicatorPayload {
  std::uint64_t communicator;
  std::int32_t ranks;
  std::int32_t rank;
};
struct CollectivePayload {
  std::uint64_t communicator;
  std::uint64_t bytes;
};
struct MessagePayload {
  CollectivePayload collective;
  std::int32_t peer;
};

constexpr nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name,
                                         std::uint64_t offset) {
  nvtxPayloadSchemaEntry_t result{};
  result.type = type;
  result.name = name;
  result.offset = offset;
  return result;
}

struct Nccl {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
  std::uint64_t communicator_schema = 0;
  std::uint64_t collective_schema = 0;
  std::uint64_t message_schema = 0;

  Nccl() {
    if (!domain) return;
    const nvtxPayloadSchemaEntry_t communicator[] = {
        entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID",
              offsetof(CommunicatorPayload, communicator)),
        entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "No. of ranks", offsetof(CommunicatorPayload, ranks)),
        entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "Rank", offsetof(CommunicatorPayload, rank))};
    const nvtxPayloadSchemaEntry_t collective[] = {
        entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID",
              offsetof(CollectivePayload, communicator)),
        entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "Message size [bytes]",
              offsetof(CollectivePayload, bytes))};
    const nvtxPayloadSchemaEntry_t message[] = {
        collective[0], collective[1],
        entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "Peer rank", offsetof(MessagePayload, peer))};
    communicator_schema = add("headway.nccl_communicator", communicator, std::size(communicator),
                              sizeof(CommunicatorPayload));
    collective_schema = add("headway.nccl_collective", collective, std::size(collective),
                            sizeof(CollectivePayload));
    message_schema =
        add("headway.nccl_message", message, std::size(message), sizeof(MessagePayload));
  }

  std::uint64_t add(const char* name, const nvtxPayloadSchemaEntry_t* entries, std::size_t count,
                    std::size_t size) const {
    nvtxPayloadSchemaAttr_t attributes{};
    attributes.fieldMask =
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
        NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    attributes.name = name;
    attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    attributes.entries = entries;
    attributes.numEntries = count;
    attributes.payloadStaticSize = size;
    return nvtxPayloadSchemaRegister(domain, &attributes);
  }

  static const Nccl& get() {
    static const Nccl nccl;
    return nccl;
  }
};

void push_in(nvtxDomainHandle_t domain, const std::string& text, std::uint64_t schema,
             const void* payload, std::size_t size) {
  const nvtxPayloadData_t data{schema, size, payload};
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  attributes.reserved0 = 1;  // number of payloads
  attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text.c_str();
  nvtxDomainRangePushEx(domain, &attributes);
}

}  // namespace

void describe_communicator(std::uint64_t communicator, int ranks, int rank) {
  const Nccl& nccl = Nccl::get();
  if (!nccl.domain) return;
  const CommunicatorPayload payload{communicator, ranks, rank};
  push_in(nccl.domain, "ncclCommInitRank", nccl.communicator_schema, &payload, sizeof payload);
  nvtxDomainRangePop(nccl.domain);
}

CollectiveRange::CollectiveRange(const std::string& function, std::uint64_t communicator,
                                 std::int64_t bytes, int peer)
    : open_(Nccl::get().domain != nullptr) {
  if (!open_) return;
  const Nccl& nccl = Nccl::get();
  const CollectivePayload payload{communicator, static_cast<std::uint64_t>(bytes)};
  const MessagePayload message{payload, peer};
  if (peer < 0)
    push_in(nccl.domain, function, nccl.collective_schema, &payload, sizeof payload);
  else
    push_in(nccl.domain, function, nccl.message_schema, &message, sizeof message);
}

CollectiveRange::~CollectiveRange() {
  if (open_) nvtxDomainRangePop(Nccl::get().domain);
}

}  // namespace headway::trainer::nvtx
