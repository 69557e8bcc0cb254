// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace headway::inject {

/// NVTX handles are opaque pointers that a program may keep for ever: after "destroying" them, in
/// static variables, and across fork. Ours are an id and a mark, values that are no valid address.
/// They are never dereferenced, are valid as long as the process, and differ from handles of
/// another tool.
enum class HandleKind : std::uint64_t {
  kDomain = 0x4857'444f'0000'0000,    // "HWDO"
  kString = 0x4857'5354'0000'0000,    // "HWST"
  kResource = 0x4857'5245'0000'0000,  // "HWRE"
  kSync = 0x4857'5359'0000'0000,      // "HWSY"
};

template <class Pointer>
Pointer make_handle(HandleKind kind, std::uint32_t id) {
  return reinterpret_cast<Pointer>(static_cast<std::uintptr_t>(kind) | id);
}

/// The id in the handle; 0 when it is not one of ours (ids of strings begin at 1, domain 0 is the
/// default domain, whose handle is null).
template <class Pointer>
std::uint32_t id_of(HandleKind kind, Pointer handle) {
  std::uint64_t value = reinterpret_cast<std::uintptr_t>(handle) ^ static_cast<std::uint64_t>(kind);
  return value >> 32 == 0 ? static_cast<std::uint32_t>(value) : 0;
}

}  // namespace headway::inject
