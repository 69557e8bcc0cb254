// SPDX-License-Identifier: MIT
#include "collector/inject/kept_texts.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cstring>

#include "collector/inject/hash.h"

namespace headway::inject {
namespace {

/// A program under RLIMIT_AS needs its address space for itself.
bool address_space_is_free() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

}  // namespace

char* KeptTexts::room(std::size_t bytes) {
  if (bytes > kChunkBytes) return nullptr;
  if (used_chunks_ == 0 || used_bytes_ + bytes > kChunkBytes) {
    if (used_chunks_ == chunks_.size() || !address_space_is_free()) return nullptr;
    void* memory =
        ::mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    chunks_[used_chunks_++] = static_cast<char*>(memory);
    used_bytes_ = 0;
  }
  return chunks_[used_chunks_ - 1] + used_bytes_;
}

std::uint32_t KeptTexts::keep(std::size_t bytes) {
  const char* at = chunks_[used_chunks_ - 1] + used_bytes_;
  std::uint64_t hash = hash_of(at, bytes);
  auto same = [&](const DefinitionIndex::Entry& entry) {
    return entry.bytes == bytes && std::memcmp(text(entry.offset), at, bytes) == 0;
  };
  if (const DefinitionIndex::Entry* known = index_.find(hash, same)) return known->offset;
  auto id = kMark | static_cast<std::uint32_t>((used_chunks_ - 1) << kOffsetBits) |
            static_cast<std::uint32_t>(used_bytes_ / 8);
  if (!index_.add({hash, 0, id, static_cast<std::uint32_t>(bytes)})) return 0;
  used_bytes_ = (used_bytes_ + bytes + 7) / 8 * 8;
  return id;
}

const char* KeptTexts::text(std::uint32_t id) const {
  std::uint32_t chunk = (id & ~kMark) >> kOffsetBits;
  if (chunk >= chunks_.size() || !chunks_[chunk]) return nullptr;
  return chunks_[chunk] + std::size_t{id & ((1u << kOffsetBits) - 1)} * 8;
}

}  // namespace headway::inject
