// SPDX-License-Identifier: MIT
#include "tests/targets/fake_nccl/mailboxes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fake_nccl {
namespace {

constexpr std::size_t kHeaderBytes = 64;

bool wait_for(const std::atomic<std::uint32_t>& word, std::uint32_t value,
              const std::atomic<bool>& give_up) {
  while (word.load(std::memory_order_acquire) != value) {
    if (give_up) return false;
    ::usleep(50);
  }
  return true;
}

}  // namespace

Mailboxes::Mailboxes(const std::string& name, int ranks, int rank)
    : ranks_(ranks),
      rank_(rank),
      bytes_(kHeaderBytes + sizeof(Box) * static_cast<std::size_t>(ranks * ranks)) {
  const int file = ::shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes_)) != 0) {
    std::perror("fake NCCL: shared memory");
    std::abort();
  }
  memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory_ == MAP_FAILED) std::abort();
  // The last to come takes the name away: nothing is left behind, however the ranks end.
  const auto ranks_here = static_cast<Header*>(memory_)->here.fetch_add(1) + 1;
  if (ranks_here == static_cast<std::uint32_t>(ranks_)) ::shm_unlink(name.c_str());
}

Mailboxes::~Mailboxes() {
  ::munmap(memory_, bytes_);
}

bool Mailboxes::all_are_here() const {
  return static_cast<Header*>(memory_)->here.load() == static_cast<std::uint32_t>(ranks_);
}

Mailboxes::Box& Mailboxes::box(int from, int to) const {
  auto* boxes = reinterpret_cast<Box*>(static_cast<std::byte*>(memory_) + kHeaderBytes);
  return boxes[from * ranks_ + to];
}

bool Mailboxes::send(int to, const void* data, std::size_t bytes,
                     const std::atomic<bool>& give_up) {
  Box& into = box(rank_, to);
  for (std::size_t first = 0; first < bytes; first += kBoxBytes) {
    if (!wait_for(into.full, 0, give_up)) return false;
    std::memcpy(into.data, static_cast<const std::byte*>(data) + first,
                std::min(kBoxBytes, bytes - first));
    into.full.store(1, std::memory_order_release);
  }
  return true;
}

bool Mailboxes::receive(int from, void* data, std::size_t bytes, const std::atomic<bool>& give_up) {
  Box& out = box(from, rank_);
  for (std::size_t first = 0; first < bytes; first += kBoxBytes) {
    if (!wait_for(out.full, 1, give_up)) return false;
    std::memcpy(static_cast<std::byte*>(data) + first, out.data,
                std::min(kBoxBytes, bytes - first));
    out.full.store(0, std::memory_order_release);
  }
  return true;
}

}  // namespace fake_nccl
