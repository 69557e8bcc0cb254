// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace headway::trainer {

/// A packed shard: little-endian, "HWSHARD1", then u32 count, height, width, CRC-32 of all that
/// follows; then per record u32 label and u32 length; then the records' bytes (PNG) in order.
struct Shard {
  struct Record {
    int label = 0;
    std::span<const std::byte> bytes;
  };
  int height = 0;
  int width = 0;
  std::vector<std::byte> file;  ///< what the records point into
  std::vector<Record> records;
};

std::vector<std::byte> pack_shard(std::span<const std::vector<std::byte>> images,
                                  std::span<const std::uint8_t> labels, int height, int width);
/// Throws Error (bad input) naming `origin` when the bytes are no shard or damaged.
Shard unpack_shard(std::vector<std::byte> file, std::string_view origin);

}  // namespace headway::trainer
