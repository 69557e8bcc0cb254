// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <thread>

#include "common/error.h"
#include "reference_trainer/comm/backend.h"

namespace headway::trainer {
namespace {

using Clock = SharedMemory::Clock;
using std::chrono::milliseconds;
constexpr milliseconds kLook{100};
/// Replaces the process id of a rank that has ended normally.
constexpr std::int32_t kLeft = -1;
constexpr std::uint32_t kMagic = 0x48575253;
constexpr std::size_t kPage = 4096;

void sleep_on(const std::atomic<std::uint32_t>& word, std::uint32_t seen, milliseconds most) {
  timespec limit{};
  limit.tv_nsec = most.count() * 1'000'000;
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

void wake_all(const std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

bool alive(std::int32_t pid) {
  return ::kill(pid, 0) == 0 || errno != ESRCH;
}

}  // namespace

/// A barrier for one set of ranks: the last rank to arrive starts the next round.
struct SharedMemory::Meeting {
  std::atomic<std::uint32_t> arrived{0};
  std::atomic<std::uint32_t> round{0};
};

/// Messages from one rank to one other rank. Each end counts its own; all counts wrap around.
struct SharedMemory::Channel {
  std::atomic<std::uint32_t> sends{0};     ///< messages for which the sender has come
  std::atomic<std::uint32_t> receives{0};  ///< messages for which the receiver has come
  std::atomic<std::uint32_t> filled{0};    ///< pieces that the sender has put into the buffer
  std::atomic<std::uint32_t> emptied{0};   ///< pieces that the receiver has taken out
  std::uint64_t bytes = 0;                 ///< of the sender's message
};

struct SharedMemory::Header {
  std::atomic<std::uint32_t> magic{0};
  std::uint32_t ranks = 0;
  std::atomic<std::uint32_t> joined{0};
  std::atomic<std::uint32_t> abandoned{0};  ///< 1: being written, 2: `why` is there
  std::atomic<std::int64_t> stop_before{std::numeric_limits<std::int64_t>::max()};
  char why[512] = {};
  std::atomic<std::int32_t>* pids() {
    return reinterpret_cast<std::atomic<std::int32_t>*>(this + 1);
  }
  Meeting* meetings(std::uint32_t count) { return reinterpret_cast<Meeting*>(pids() + count); }
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// The data area: channels, slots of all ranks, buffers of all channels. Pages that nobody touches
/// take no memory.
std::size_t SharedMemory::data_bytes(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  const std::size_t channels = (n * n * sizeof(Channel) + kPage - 1) / kPage * kPage;
  return channels + n * kSlotBytes + n * n * kChannelBytes;
}

std::size_t SharedMemory::bytes_for(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  // One meeting for all, one per node and one per place on a node: at most 1 + 2n.
  const std::size_t head =
      sizeof(Header) + n * sizeof(std::atomic<std::int32_t>) + (1 + 2 * n) * sizeof(Meeting);
  return (head + kPage - 1) / kPage * kPage + data_bytes(ranks);
}

SharedMemory::SharedMemory(void* memory, std::size_t bytes, int ranks)
    : memory_(memory),
      bytes_(bytes),
      ranks_(ranks),
      header_(static_cast<Header*>(memory)),
      channels_(static_cast<std::byte*>(memory) + bytes - data_bytes(ranks)),
      data_(static_cast<std::byte*>(memory) + bytes -
            static_cast<std::size_t>(ranks) *
                (kSlotBytes + static_cast<std::size_t>(ranks) * kChannelBytes)) {}

SharedMemory::~SharedMemory() {
  ::munmap(memory_, bytes_);
}

std::unique_ptr<SharedMemory> SharedMemory::anonymous(int ranks) {
  const std::size_t bytes = bytes_for(ranks);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    fail_internal("Cannot map {} bytes to share between {} ranks: {}.", bytes, ranks,
                  system_error_text(errno));
  auto* header = new (memory) Header;  // all other memory is zero, as required
  header->ranks = static_cast<std::uint32_t>(ranks);
  header->magic = kMagic;
  return std::unique_ptr<SharedMemory>(new SharedMemory(memory, bytes, ranks));
}

std::unique_ptr<SharedMemory> SharedMemory::named(const std::string& name, int rank, int ranks,
                                                  std::chrono::nanoseconds timeout) {
  const std::size_t bytes = bytes_for(ranks);
  const Clock::time_point deadline = Clock::now() + timeout;
  int file = -1;
  if (rank == 0) {
    ::shm_unlink(name.c_str());  // left by a run that was killed
    file = ::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0)
      fail_internal("Shared memory '{}' for {} ranks: {}. Is /dev/shm there and large enough?",
                    name, ranks, system_error_text(errno));
  }
  void* memory = MAP_FAILED;
  while (memory == MAP_FAILED) {
    if (file < 0) file = ::shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0600);
    const off_t size = file >= 0 ? ::lseek(file, 0, SEEK_END) : 0;
    if (size == static_cast<off_t>(bytes))
      memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) {
      auto* header = static_cast<Header*>(memory);
      if (rank == 0) {
        new (memory) Header;
        header->ranks = static_cast<std::uint32_t>(ranks);
        header->pids()[0] = ::getpid();
        header->magic = kMagic;
      }
      // A segment of a run that has ended: rank 0 will replace it.
      if (header->magic == kMagic && header->pids()[0] != 0 && alive(header->pids()[0])) break;
      ::munmap(memory, bytes);
      memory = MAP_FAILED;
    }
    if (file >= 0) ::close(file);
    file = -1;
    if (Clock::now() > deadline)
      fail_internal(
          "Rank {} of {}: rank 0 has not made the shared memory '{}' in time. Were all ranks "
          "started on this host?",
          rank, ranks, name);
    std::this_thread::sleep_for(milliseconds(20));
  }
  ::close(file);
  std::unique_ptr<SharedMemory> shared(new SharedMemory(memory, bytes, ranks));
  shared->join(rank);
  shared->meet(rank, 0, ranks, timeout);
  if (rank == 0) ::shm_unlink(name.c_str());
  return shared;
}

void SharedMemory::join(int rank) {
  header_->pids()[rank] = ::getpid();
}

void SharedMemory::leave(int rank) {
  header_->pids()[rank] = kLeft;
}

std::string SharedMemory::missing(int rank) const {
  std::string names;
  for (int other = 0; other < ranks_; ++other)
    if (other != rank && header_->pids()[other] == 0)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", other);
  return names.empty() ? "" : fmt::format(" Not started: rank {}.", names);
}

std::int64_t SharedMemory::stop_before(std::int64_t step) {
  std::int64_t least = header_->stop_before;
  while (step < least && !header_->stop_before.compare_exchange_weak(least, step)) {
  }
  return std::min(least, step);
}

std::string SharedMemory::abandoned() const {
  return header_->abandoned == 2 ? std::string(header_->why) : std::string();
}

void SharedMemory::check(int rank) const {
  if (header_->abandoned == 2)
    throw Error(ExitCode::kInternal, fmt::format("Rank {} stops: {}", rank, header_->why));
  for (int other = 0; other < ranks_; ++other) {
    const std::int32_t pid = header_->pids()[other];
    if (pid > 0 && !alive(pid))
      throw Error(ExitCode::kInternal,
                  fmt::format("Rank {} stops: rank {} (process {}) has died.", rank, other, pid));
  }
}

void SharedMemory::await_change(int rank, const std::atomic<std::uint32_t>& word,
                                std::uint32_t seen, Clock::time_point deadline,
                                std::chrono::nanoseconds timeout,
                                const std::function<std::string()>& who) const {
  while (word.load() == seen) {
    sleep_on(word, seen, kLook);
    if (word.load() != seen) return;
    check(rank);
    if (Clock::now() > deadline)
      throw Error(
          ExitCode::kInternal,
          fmt::format("Rank {} stops: {} in {} s.{} Change the limit with --comm-timeout-s.", rank,
                      who(), std::chrono::duration_cast<std::chrono::seconds>(timeout).count(),
                      missing(rank)));
  }
}

void SharedMemory::meet(int rank, int meeting, int members, std::chrono::nanoseconds timeout) {
  Meeting& place = header_->meetings(header_->ranks)[meeting];
  const std::uint32_t round = place.round.load();
  if (place.arrived.fetch_add(1) + 1 == static_cast<std::uint32_t>(members)) {
    place.arrived = 0;
    place.round.fetch_add(1);
    wake_all(place.round);
    return;
  }
  await_change(rank, place.round, round, Clock::now() + timeout, timeout, [&] {
    return fmt::format("{} of {} ranks have not come",
                       static_cast<std::uint32_t>(members) - place.arrived.load(), members);
  });
}

SharedMemory::Channel& SharedMemory::channel(int from, int to) const {
  return reinterpret_cast<Channel*>(channels_)[from * ranks_ + to];
}

std::byte* SharedMemory::channel_data(int from, int to) const {
  return data_ + static_cast<std::size_t>(ranks_) * kSlotBytes +
         static_cast<std::size_t>(from * ranks_ + to) * kChannelBytes;
}

SharedMemory::Clock::time_point SharedMemory::send(int rank, int to,
                                                   std::span<const std::byte> bytes,
                                                   std::size_t piece,
                                                   std::chrono::nanoseconds timeout) {
  Channel& its = channel(rank, to);
  const Clock::time_point deadline = Clock::now() + timeout;
  auto who = [&] { return fmt::format("rank {} has not come for a message", to); };
  its.bytes = bytes.size();
  const std::uint32_t number = its.sends.fetch_add(1) + 1;
  wake_all(its.sends);
  while (its.receives.load() != number)
    await_change(rank, its.receives, number - 1, deadline, timeout, who);
  const Clock::time_point met = Clock::now();
  std::byte* const buffer = channel_data(rank, to);
  auto wait_until_empty = [&] {
    const std::uint32_t filled = its.filled.load();
    if (its.emptied.load() != filled)
      await_change(rank, its.emptied, filled - 1, Clock::now() + timeout, timeout, who);
  };
  for (std::size_t first = 0; first < bytes.size(); first += piece) {
    std::memcpy(buffer, bytes.data() + first, std::min(piece, bytes.size() - first));
    its.filled.fetch_add(1);
    wake_all(its.filled);
    wait_until_empty();
  }
  return met;
}

SharedMemory::Clock::time_point SharedMemory::receive(int rank, int from,
                                                      std::span<std::byte> bytes, std::size_t piece,
                                                      std::chrono::nanoseconds timeout) {
  Channel& its = channel(from, rank);
  const Clock::time_point deadline = Clock::now() + timeout;
  auto who = [&] { return fmt::format("rank {} has not come with a message", from); };
  const std::uint32_t number = its.receives.load() + 1;
  while (its.sends.load() != number)
    await_change(rank, its.sends, number - 1, deadline, timeout, who);
  if (its.bytes != bytes.size()) fail_size(rank, from, its.bytes, bytes.size());
  its.receives = number;
  wake_all(its.receives);
  const Clock::time_point met = Clock::now();
  const std::byte* const buffer = channel_data(from, rank);
  for (std::size_t first = 0; first < bytes.size(); first += piece) {
    const std::uint32_t emptied = its.emptied.load();
    if (its.filled.load() == emptied)
      await_change(rank, its.filled, emptied, Clock::now() + timeout, timeout, who);
    std::memcpy(bytes.data() + first, buffer, std::min(piece, bytes.size() - first));
    its.emptied.fetch_add(1);
    wake_all(its.emptied);
  }
  return met;
}

void SharedMemory::abandon(const std::string& why) {
  std::uint32_t nobody = 0;
  if (!header_->abandoned.compare_exchange_strong(nobody, 1)) return;
  const std::size_t length = std::min(why.size(), sizeof(header_->why) - 1);
  std::memcpy(header_->why, why.data(), length);
  header_->why[length] = '\0';
  header_->abandoned = 2;
  for (std::uint32_t i = 0; i < 1 + 2 * header_->ranks; ++i)
    wake_all(header_->meetings(header_->ranks)[i].round);
}

}  // namespace headway::trainer
