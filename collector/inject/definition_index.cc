// SPDX-License-Identifier: MIT
#include "collector/inject/definition_index.h"

#include <sys/mman.h>

namespace headway::inject {

bool DefinitionIndex::add(const Entry& entry) {
  if ((size_ + 1) * 2 > capacity_ && !grow()) return false;
  std::size_t i = entry.hash & (capacity_ - 1);
  while (entries_[i].bytes != 0) i = (i + 1) & (capacity_ - 1);
  entries_[i] = entry;
  ++size_;
  return true;
}

bool DefinitionIndex::grow() {
  std::size_t capacity = capacity_ ? capacity_ * 2 : 512;
  void* memory = ::mmap(nullptr, capacity * sizeof(Entry), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  DefinitionIndex larger;
  larger.entries_ = static_cast<Entry*>(memory);
  larger.capacity_ = capacity;
  for (std::size_t i = 0; i < capacity_; ++i) {
    if (entries_[i].bytes != 0) larger.add(entries_[i]);
  }
  if (entries_) ::munmap(entries_, capacity_ * sizeof(Entry));
  *this = larger;
  return true;
}

}  // namespace headway::inject
