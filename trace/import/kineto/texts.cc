// SPDX-License-Identifier: MIT
#include "trace/import/kineto/texts.h"

#include <cstring>

namespace headway::trace::kineto {
namespace {

/// Multiply-and-fold over eight bytes at a time: names have 10 to 300 bytes and are hashed once per
/// event. In a hash by bytes, such as FNV, each step waits for the one before.
std::uint64_t hash_of(std::string_view text) {
  constexpr std::uint64_t kA = 0x9e3779b97f4a7c15ull;
  constexpr std::uint64_t kB = 0xc2b2ae3d27d4eb4full;
  std::uint64_t hash = text.size() * kA;
  auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * kB;
    hash ^= hash >> 29;
  };
  const char* data = text.data();
  std::size_t left = text.size();
  for (; left >= 8; left -= 8, data += 8) {
    std::uint64_t word;
    std::memcpy(&word, data, 8);
    mix(word);
  }
  std::uint64_t word = 0;
  if (left > 0) std::memcpy(&word, data, left);
  mix(word);
  return hash ^ hash >> 32;
}

constexpr std::size_t kFirstSlots = 1024;

}  // namespace

Texts::Texts() : slots_(kFirstSlots, 0) {
  add("");
}

std::uint32_t Texts::add(std::string_view text) {
  if (last_ < entries_.size() && (*this)[last_] == text) return last_;
  std::uint64_t hash = hash_of(text);
  std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot]; slot = (slot + 1) & mask) {
    std::uint32_t id = slots_[slot] - 1;
    if (entries_[id].hash == hash && (*this)[id] == text) return last_ = id;
  }
  auto id = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({storage_.size(), text.size(), hash});
  storage_.append(text);
  slots_[slot] = id + 1;
  if (entries_.size() * 2 > slots_.size()) grow();
  return last_ = id;
}

void Texts::grow() {
  slots_.assign(slots_.size() * 2, 0);
  std::size_t mask = slots_.size() - 1;
  for (std::uint32_t id = 0; id < entries_.size(); ++id) {
    std::size_t slot = entries_[id].hash & mask;
    while (slots_[slot]) slot = (slot + 1) & mask;
    slots_[slot] = id + 1;
  }
}

}  // namespace headway::trace::kineto
