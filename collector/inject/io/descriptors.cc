// SPDX-License-Identifier: MIT
#include "collector/inject/io/descriptors.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "collector/inject/definitions.h"
#include "collector/inject/process.h"

namespace headway::inject::io {

constinit std::atomic<Descriptor> g_descriptors[kMaxDescriptors] = {};

namespace {

// One more than the highest number ever seen: beyond it forget() has nothing to do, and the table
// has no pages.
constinit std::atomic<unsigned> g_end{0};

constexpr std::size_t kMaxPath = 4096;
constinit char g_path[kMaxPath + 1] = {};  // guarded by the process lock

Descriptor store(int fd, Descriptor word) {
  auto number = static_cast<unsigned>(fd);
  g_descriptors[number].store(word, std::memory_order_relaxed);
  unsigned end = g_end.load(std::memory_order_relaxed);
  while (end <= number && !g_end.compare_exchange_weak(end, number + 1)) {
  }
  return word;
}

bool begins_with(const char* path, const char* prefix) {
  return std::strncmp(path, prefix, std::strlen(prefix)) == 0;
}

/// Puts the path that the system knows into g_path. Returns its length; 0 when there is no /proc.
std::size_t ask_system(int fd) {
  char link[32];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = ::readlink(link, g_path, kMaxPath);
  return length > 0 ? static_cast<std::size_t>(length) : 0;
}

/// Defines the path in g_path and returns its id; when there is no room for it, the id of its
/// folder.
std::uint32_t define_locked(std::size_t length) {
  std::uint32_t id = define_path_locked(g_path, length, false);
  if (id != 0 || length == 0) return id;
  g_process.segment.header().io_paths_folded.fetch_add(1, std::memory_order_relaxed);
  while (length > 0 && g_path[length - 1] != '/') --length;
  if (length >= kMaxPath) return 0;
  g_path[length] = '*';
  return define_path_locked(g_path, length + 1, true);
}

Descriptor name_locked(int fd, const char* path) {
  bool absolute = path && path[0] == '/';
  std::size_t length = absolute ? 0 : ask_system(fd);
  if (length == 0 && path) {
    length = ::strnlen(path, kMaxPath);
    std::memcpy(g_path, path, length);
  }
  g_path[length] = '\0';
  for (const char* prefix : {"/proc/", "/sys/", "/memfd:"}) {
    if (begins_with(g_path, prefix)) return kIgnored;
  }
  Descriptor word = kNamed | (begins_with(g_path, "/dev/shm/") ? kInMemory : 0);
  return word | Descriptor{define_locked(length)} << 32;
}

bool is_file(const struct stat& info) {
  return S_ISREG(info.st_mode) || S_ISBLK(info.st_mode);
}

}  // namespace

Descriptor look_at(int fd, bool was_read) {
  int saved = errno;
  struct stat info {};
  bool there = ::fstat(fd, &info) == 0;
  errno = saved;
  if (!there) return kIgnored;  // closed meanwhile: nothing is stored for the number
  bool pretends = was_read && S_ISREG(info.st_mode) && info.st_size == 0;
  return store(fd, is_file(info) && !pretends ? kFile : kIgnored);
}

Descriptor name(int fd, const char* path) {
  int saved = errno;
  struct stat info {};
  if (::fstat(fd, &info) != 0) {
    errno = saved;
    return kIgnored;
  }
  Descriptor word = kIgnored;
  if (is_file(info)) {
    Locked locked(g_process.page->lock);
    bool on = g_process.page->mode.load(std::memory_order_relaxed) == Mode::kOn;
    word = on ? name_locked(fd, path) : Descriptor{kUnknown};
  }
  errno = saved;
  return store(fd, word);
}

void forget(unsigned first, unsigned last) {
  unsigned end = g_end.load(std::memory_order_relaxed);
  for (unsigned fd = first; fd <= last && fd < end; ++fd)
    g_descriptors[fd].store(kUnknown, std::memory_order_relaxed);
}

}  // namespace headway::inject::io
