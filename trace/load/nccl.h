// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace headway::trace::load_detail {

struct Context;

/// What NCCL says about an operation or a communicator in the payload of its NVTX range. Fields are
/// found by their registered names; -1: not given.
struct NcclPayload {
  std::int64_t communicator = 0;  ///< a hash that all ranks share; 0: not given
  std::int64_t bytes = -1;        ///< as passed: per rank for allgather, reducescatter, alltoall
  std::int64_t ranks = -1;
  std::int64_t rank = -1;
  std::int64_t peer = -1;  ///< rank of the other end, or of the root
};

/// Payloads by rowid in NVTX_EVENTS, of NCCL's domains only; empty for files without any. Reads
/// binaryData (nsys --include-blobs) and jsonText or jsonTextId (nsys --include-json, Headway).
std::unordered_map<std::int64_t, NcclPayload> read_nccl_payloads(const Context& context);

/// "allreduce" for ncclAllReduce; empty for a function that does not communicate.
std::string_view nccl_kind(std::string_view function);

/// Bytes of an element of a type as NCCL names it, "ncclFloat32" or "Float32"; 0: not known.
std::int64_t nccl_type_bytes(std::string_view name);

struct NcclKernel {
  std::string kind;  ///< "allreduce", "sendrecv"; empty: not an NCCL kernel
  std::string_view dtype;
};
/// "ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)" -> allreduce, f32.
NcclKernel parse_nccl_kernel(std::string_view name);

}  // namespace headway::trace::load_detail
