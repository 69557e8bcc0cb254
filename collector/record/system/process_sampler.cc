// SPDX-License-Identifier: MIT
#include "collector/record/system/process_sampler.h"

#include <fmt/format.h>

namespace headway::record {

ProcessSampler::ProcessSampler(pid_t pid)
    : pid_(pid),
      has_cpu_clock_(::clock_getcpuclockid(pid, &cpu_clock_) == 0),
      memory_(fmt::format("/proc/{}/statm", pid)),
      io_(fmt::format("/proc/{}/io", pid)) {}

bool ProcessSampler::sample(std::int64_t monotonic_ns, std::vector<Sample>& samples) {
  std::string_view memory = memory_.read(buffer_);
  std::int64_t pages = number_at(memory, 1).value_or(0);
  if (pages == 0) return false;  // gone, or a zombie
  static const std::int64_t page_bytes = ::sysconf(_SC_PAGESIZE);
  samples.push_back(
      {"process.rss", "bytes", "Resident memory.", pid_, static_cast<double>(pages * page_bytes)});
  // The CPU clock of another process counts all its threads, in ns; /proc/<pid>/stat has steps of
  // 10 ms.
  timespec time{};
  if (has_cpu_clock_ && ::clock_gettime(cpu_clock_, &time) == 0) {
    std::int64_t used = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    if (auto rate = cpu_.next(monotonic_ns, used))
      samples.push_back({"process.cpu", "%",
                         "Processor time of all threads; 100 % is one processor.", pid_,
                         *rate / 1e7});
  }
  std::string_view io = io_.read(buffer_);
  auto add = [&](Rate& rate, std::string_view key, std::string_view name,
                 std::string_view description) {
    std::optional<std::int64_t> sum = number_after(io, key);
    if (!sum) return;
    if (auto value = rate.next(monotonic_ns, *sum))
      samples.push_back({name, "bytes/s", description, pid_, *value});
  };
  add(read_bytes_, "read_bytes", "process.read_bytes", "Read from storage.");
  add(write_bytes_, "write_bytes", "process.write_bytes", "Written to storage.");
  add(read_chars_, "rchar", "process.read_chars",
      "Read by read() and similar calls, from storage or memory.");
  add(write_chars_, "wchar", "process.write_chars", "Written by write() and similar calls.");
  return true;
}

}  // namespace headway::record
