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

void Storage::read_file(const std::filesystem::path& path, std::vector<std::byte>& bytes) {
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
    if (got == 0) break;  // became shorter; the decoder will say so
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  pay(read_asked, static_cast<std::int64_t>(done));
}

void Storage::pay(Clock::time_point asked, std::int64_t bytes) {
  if (speed_.latency.count() == 0 && speed_.bytes_per_second <= 0) return;
  Clock::time_point ready = asked + speed_.latency;
  if (speed_.bytes_per_second > 0 && bytes > 0) {
    const std::chrono::duration<double> transfer(static_cast<double>(bytes) /
                                                 speed_.bytes_per_second);
    std::scoped_lock lock(mutex_);
    ready = std::max(ready, free_at_) + std::chrono::duration_cast<Clock::duration>(transfer);
    free_at_ = ready;
  }
  std::this_thread::sleep_until(ready);
}

}  // namespace headway::trainer
