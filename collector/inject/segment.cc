// SPDX-License-Identifier: MIT
#include "collector/inject/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>

#include "collector/inject/handover.h"

// Constants that the headers of Debian 12 or of the oldest supported C library lack.
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace headway::inject {
namespace {

/// Bytes of address space that a segment may take: a program under RLIMIT_AS must not fail because
/// it was recorded.
std::uint64_t address_space_budget() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  unsigned long long pages = 0;
  char text[64] = {};
  int fd = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t got = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (got <= 0 || std::sscanf(text, "%llu", &pages) != 1) return 0;
  std::uint64_t used = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t left = used < limit.rlim_cur ? limit.rlim_cur - used : 0;
  // A sixty-fourth of what is left, or the smallest layout (3 MiB) when at least ten times that is
  // left.
  constexpr std::uint64_t kSmallest = wire::segment_bytes(wire::kLayouts.back());
  return left >= 10 * kSmallest ? std::max(left / 64, kSmallest) : 0;
}

/// Growing a file beyond RLIMIT_FSIZE raises SIGXFSZ, memfd or not.
std::uint64_t file_size_budget() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

int create_memory_file() {
  constexpr const char* kName = "headway";
  int fd = ::memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  // EINVAL: a kernel before 6.3 does not know the flag.
  if (fd < 0 && errno == EINVAL) fd = ::memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  return above_standard_streams(fd);
}

bool can_populate(std::byte* page) {
  return ::madvise(page, wire::kControlOffset, MADV_POPULATE_WRITE) == 0;
}

}  // namespace

Segment create_segment(int& fd, wire::Problem& problem, int& error) {
  fd = create_memory_file();
  if (fd < 0) {
    problem = wire::Problem::kMemfd;
    error = errno;
    return {};
  }
  std::uint64_t address_space = address_space_budget();
  std::uint64_t file_size = file_size_budget();
  problem = wire::Problem::kSize;
  error = 0;
  for (std::uint32_t i = 0; i < wire::kLayouts.size(); ++i) {
    const wire::Layout& layout = wire::kLayouts[i];
    std::size_t bytes = wire::segment_bytes(layout);
    if (bytes > address_space || bytes > file_size) continue;
    if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
      error = errno;
      continue;
    }
    void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
      problem = wire::Problem::kMap;
      error = errno;
      continue;
    }
    Segment segment{static_cast<std::byte*>(base), &layout, false};
    segment.populates = can_populate(segment.base);
    // Without MADV_POPULATE_WRITE all memory must be taken now, while the descriptor is known to be
    // ours. That is too much for the large layout (128 MiB in every process).
    bool usable =
        segment.populates || (i > 0 && ::posix_fallocate(fd, 0, static_cast<off_t>(bytes)) == 0);
    if (usable && populate(segment, segment.base, wire::definitions_offset(layout)) &&
        ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
      auto* header = new (segment.base) wire::SegmentHeader{};
      header->magic = wire::kMagic;
      header->version = wire::kVersion;
      header->layout = i;
      problem = wire::Problem::kNone;
      return segment;
    }
    error = errno;
    destroy_segment(segment);
  }
  ::close(fd);
  fd = -1;
  return {};
}

void destroy_segment(Segment& segment) {
  if (segment) ::munmap(segment.base, segment.bytes());
  segment = {};
}

bool populate(const Segment& segment, std::byte* begin, std::size_t bytes) {
  if (segment.populates) return ::madvise(begin, bytes, MADV_POPULATE_WRITE) == 0;
  // Allocated already; touching maps it.
  for (std::size_t at = 0; at < bytes; at += 4096) {
    auto* page = reinterpret_cast<volatile unsigned char*>(begin + at);
    *page = *page;
  }
  return true;
}

}  // namespace headway::inject
