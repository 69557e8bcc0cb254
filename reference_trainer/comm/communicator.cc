// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/communicator.h"

#include <fmt/format.h>

#include "common/error.h"
#include "reference_trainer/comm/backend.h"

namespace headway::trainer {

const char* nccl_function_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kReduceScatter:
      return "ncclReduceScatter";
    case CollectiveKind::kAllGather:
      return "ncclAllGather";
    case CollectiveKind::kAllToAll:
      return "ncclAlltoAll";
    case CollectiveKind::kParameterServer:
      return "ncclReduce";
    case CollectiveKind::kSend:
      return "ncclSend";
    case CollectiveKind::kReceive:
      return "ncclRecv";
    case CollectiveKind::kAllReduce:
      break;
  }
  return "ncclAllReduce";
}

std::string name_of(const Collective& collective) {
  const char* kind = "allreduce";
  switch (collective.kind) {
    case CollectiveKind::kReduceScatter:
      kind = "reduce_scatter";
      break;
    case CollectiveKind::kAllGather:
      kind = "allgather";
      break;
    case CollectiveKind::kAllToAll:
      kind = "alltoall";
      break;
    case CollectiveKind::kParameterServer:
      kind = "reduce through server";
      break;
    case CollectiveKind::kSend:
    case CollectiveKind::kReceive:
      kind = collective.kind == CollectiveKind::kSend ? "send" : "receive";
      break;
    case CollectiveKind::kAllReduce:
      break;
  }
  return fmt::format("{} {}", kind, collective.text);
}

std::int64_t bytes_as_called(const Collective& collective, int members) {
  const bool per_member = collective.kind == CollectiveKind::kAllGather ||
                          collective.kind == CollectiveKind::kReduceScatter ||
                          collective.kind == CollectiveKind::kAllToAll;
  return per_member ? collective.bytes() / members : collective.bytes();
}

void carry_out(const Collective& collective, CommBackend& backend, void* data) {
  const auto count = static_cast<std::size_t>(collective.count);
  const std::span<float> floats(static_cast<float*>(data), count);
  const std::span<std::uint16_t> halves(static_cast<std::uint16_t*>(data), count);
  switch (collective.kind) {
    case CollectiveKind::kAllReduce:
      if (collective.type == ElementType::kHalf)
        return backend.all_reduce_half(collective.scope, halves);
      return backend.all_reduce(collective.scope, floats);
    case CollectiveKind::kReduceScatter:
      if (collective.type == ElementType::kHalf)
        return backend.reduce_scatter_half(collective.scope, halves);
      return backend.reduce_scatter(collective.scope, floats);
    case CollectiveKind::kAllGather:
      if (collective.type == ElementType::kHalf)
        return backend.all_gather_parts_half(collective.scope, halves);
      if (collective.type == ElementType::kByte)
        return backend.all_gather({static_cast<std::byte*>(data), count});
      return backend.all_gather_parts(collective.scope, floats);
    case CollectiveKind::kAllToAll:
      return backend.all_to_all(
          {static_cast<std::byte*>(data), static_cast<std::size_t>(collective.bytes())});
    case CollectiveKind::kParameterServer:
      return backend.reduce_through_server(floats);
    case CollectiveKind::kSend:
    case CollectiveKind::kReceive:
      break;
  }
  fail_internal("{}: a message is not a collective.", name_of(collective));
}

CommBackend::Clock::time_point pass_message(const Collective& message, CommBackend& backend,
                                            void* data) {
  const std::span bytes(static_cast<std::byte*>(data), static_cast<std::size_t>(message.bytes()));
  return message.kind == CollectiveKind::kSend ? backend.send(message.peer, bytes)
                                               : backend.receive(message.peer, bytes);
}

void fail_size(int rank, int from, std::uint64_t sent, std::uint64_t expected) {
  fail_internal(
      "Rank {} stops: rank {} sends {} bytes where {} are expected. Start all ranks with the same "
      "switches.",
      rank, from, sent, expected);
}

}  // namespace headway::trainer
