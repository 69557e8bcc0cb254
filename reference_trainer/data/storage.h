// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <vector>

namespace headway::trainer {

/// Reads files, optionally as slowly as a given storage device would: it reads the file, then
/// sleeps until the device would have answered. Every request (an open, a read) costs the latency;
/// transfers share one bandwidth. Latencies of several workers overlap, up to the number of readers
/// that the device serves at once; transfers queue up, as on one network store. Thread safe: all
/// workers share one.
class Storage {
 public:
  struct Speed {
    std::chrono::microseconds latency{0};  ///< per open and per read
    double bytes_per_second = 0;           ///< of all readers together; 0: as fast as the machine
    double reader_bytes_per_second = 0;    ///< limit of one read; 0: that of all
    int readers = 0;                       ///< served at once; 0: any number
    /// Replaces latency and bandwidth; 0 leaves a value as it is.
    void replace(double latency_ms, double mb_per_s);
  };
  Storage() = default;
  explicit Storage(Speed speed) : speed_(speed) {}

  /// Reads the whole file into `bytes`, replacing its content. Throws Error (bad input) naming the
  /// path.
  void read_file(const std::filesystem::path& path, std::vector<std::byte>& bytes);

 private:
  using Clock = std::chrono::steady_clock;
  void pay(Clock::time_point asked, std::int64_t bytes);
  void take_place();
  void leave_place();

  const Speed speed_{};
  std::mutex mutex_;
  std::condition_variable left_;
  int reading_ = 0;
  Clock::time_point free_at_{};  ///< when all transfers accepted so far are done
};

}  // namespace headway::trainer
