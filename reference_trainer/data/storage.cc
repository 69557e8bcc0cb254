// SPDX-License-Identifier: MIT
#include "reference_trainer/data/storage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "common/error.h"
#include "common/text.h"

namespace headway::trainer {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* doing, int code) {
  fail_input("{}: cannot {}: {}.", escape_terminal(path.string()), doing, system_error_text(code));
}

class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) fail(path, "open", errno);
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

void Storage::Speed::replace(double latency_ms, double mb_per_s) {
  if (latency_ms > 0)
    latency = std::chrono::microseconds(static_cast<std::int64_t>(latency_ms * 1000));
  if (mb_per_s <= 0) return;
  bytes_per_second = mb_per_s * 1e6;
  reader_bytes_per_second = 0;
}

void Storage::take_place() {
  if (speed_.readers == 0) return;
  std::unique_lock lock(mutex_);
  left_.wait(lock, [&] { return reading_ < speed_.readers; });
  ++reading_;
}

void Storage::leave_place() {
  if (speed_.readers == 0) return;
  {
    const std::scoped_lock lock(mutex_);
    --reading_;
  }
  left_.notify_one();
}

void Storage::read_file(const std::filesystem::path& path, std::vector<std::byte>& bytes) {
  take_place();
  const struct Place {
    Storage& storage;
    ~Place() { storage.leave_place(); }
  } place{*this};
  const Clock::time_point open_asked = Clock::now();
  const Descriptor file(path);
  pay(open_asked, 0);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(path, "read the size", errno);
  bytes.resize(static_cast<std::size_t>(status.st_size));
  const Clock::time_point read_asked = Clock::now();
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, "read", errno);
    if (got == 0) break;  // the file became shorter; the decoder will report it
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  pay(read_asked, static_cast<std::int64_t>(done));
}

void Storage::pay(Clock::time_point asked, std::int64_t bytes) {
  if (speed_.latency.count() == 0 && speed_.bytes_per_second <= 0 &&
      speed_.reader_bytes_per_second <= 0)
    return;
  Clock::time_point ready = asked + speed_.latency;
  auto at_rate = [bytes](double rate) {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(static_cast<double>(bytes) / rate));
  };
  Clock::time_point alone = ready;
  if (speed_.reader_bytes_per_second > 0) alone += at_rate(speed_.reader_bytes_per_second);
  if (speed_.bytes_per_second > 0 && bytes > 0) {
    std::scoped_lock lock(mutex_);
    ready = std::max(ready, free_at_) + at_rate(speed_.bytes_per_second);
    free_at_ = ready;
  }
  ready = std::max(ready, alone);
  std::this_thread::sleep_until(ready);
}

}  // namespace headway::trainer
