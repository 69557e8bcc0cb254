// SPDX-License-Identifier: MIT
#include "reference_trainer/data/shard.h"

#include <zlib.h>

#include <cstring>

#include "common/error.h"
#include "common/text.h"

namespace headway::trainer {
namespace {

constexpr std::string_view kMagic = "HWSHARD1";
constexpr std::size_t kHeaderBytes = 24;
constexpr std::size_t kRecordBytes = 8;

void put(std::vector<std::byte>& to, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) to.push_back(static_cast<std::byte>(value >> shift));
}

std::uint32_t get(std::span<const std::byte> from, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value |= std::to_integer<std::uint32_t>(from[at + i]) << (8 * i);
  return value;
}

std::uint32_t checksum(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

}  // namespace

std::vector<std::byte> pack_shard(std::span<const std::vector<std::byte>> images,
                                  std::span<const std::uint8_t> labels, int height, int width) {
  std::vector<std::byte> body;
  for (std::size_t i = 0; i < images.size(); ++i) {
    put(body, labels[i]);
    put(body, static_cast<std::uint32_t>(images[i].size()));
  }
  for (const auto& image : images) body.insert(body.end(), image.begin(), image.end());
  std::vector<std::byte> file;
  for (char c : kMagic) file.push_back(static_cast<std::byte>(c));
  put(file, static_cast<std::uint32_t>(images.size()));
  put(file, static_cast<std::uint32_t>(height));
  put(file, static_cast<std::uint32_t>(width));
  put(file, checksum(body));
  file.insert(file.end(), body.begin(), body.end());
  return file;
}

Shard unpack_shard(std::vector<std::byte> file, std::string_view origin) {
  const std::string place = escape_terminal(origin);
  if (file.size() < kHeaderBytes || std::memcmp(file.data(), kMagic.data(), kMagic.size()) != 0)
    fail_input("{}: not a shard (no '{}' at its start). Delete it; it is made again.", place,
               kMagic);
  if (checksum(std::span(file).subspan(kHeaderBytes)) != get(file, 20))
    fail_input("{}: damaged shard (checksum differs). Delete it; it is made again.", place);
  Shard shard;
  shard.file = std::move(file);
  const std::span<const std::byte> bytes(shard.file);
  const std::size_t count = get(bytes, 8);
  shard.height = static_cast<int>(get(bytes, 12));
  shard.width = static_cast<int>(get(bytes, 16));
  std::size_t at = kHeaderBytes + count * kRecordBytes;
  if (count > bytes.size() / kRecordBytes || at > bytes.size())
    fail_input("{}: {} records do not fit the file. Delete it; it is made again.", place, count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t label = get(bytes, kHeaderBytes + i * kRecordBytes);
    const std::size_t size = get(bytes, kHeaderBytes + i * kRecordBytes + 4);
    if (size > bytes.size() - at)
      fail_input("{}: record {} ends past the file. Delete it; it is made again.", place, i);
    shard.records.push_back({static_cast<int>(label), bytes.subspan(at, size)});
    at += size;
  }
  return shard;
}

}  // namespace headway::trainer
