// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/host/reserved_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/error.h"

namespace headway::trainer {
namespace {

constexpr int kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS;

std::size_t whole(std::int64_t bytes) {
  return static_cast<std::size_t>(ReservedMemory::in_pages(bytes));
}

}  // namespace

std::int64_t ReservedMemory::in_pages(std::int64_t bytes) {
  static const std::int64_t kPage = ::sysconf(_SC_PAGESIZE);
  return (bytes + kPage - 1) / kPage * kPage;
}

ReservedMemory::ReservedMemory(std::int64_t bytes) : bytes_(in_pages(bytes)) {
  if (bytes_ == 0) return;
  void* begin =
      ::mmap(nullptr, whole(bytes_), PROT_READ | PROT_WRITE, kAnonymous | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED)
    fail_internal("The host device could not reserve {} bytes of addresses: {}.", bytes_,
                  system_error_text(errno));
  begin_ = static_cast<std::byte*>(begin);
}

ReservedMemory::ReservedMemory(ReservedMemory&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

ReservedMemory& ReservedMemory::operator=(ReservedMemory&& other) noexcept {
  std::swap(begin_, other.begin_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

ReservedMemory::~ReservedMemory() {
  if (begin_) ::munmap(begin_, whole(bytes_));
}

bool ReservedMemory::get(void* piece, std::int64_t bytes) {
  return ::mmap(piece, whole(bytes), PROT_READ | PROT_WRITE, kAnonymous | MAP_FIXED | MAP_POPULATE,
                -1, 0) != MAP_FAILED;
}

void ReservedMemory::give_back(void* piece, std::int64_t bytes) {
  // If this fails, the pages stay in use.
  (void)::mmap(piece, whole(bytes), PROT_NONE, kAnonymous | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

}  // namespace headway::trainer
