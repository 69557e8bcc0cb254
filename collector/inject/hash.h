// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace headway::inject {

/// FNV-1a.
inline std::uint64_t hash_of(const void* data, std::size_t bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < bytes; ++i)
    hash = (hash ^ static_cast<const std::uint8_t*>(data)[i]) * 0x100000001b3;
  return hash;
}

}  // namespace headway::inject
