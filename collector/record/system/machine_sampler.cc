// SPDX-License-Identifier: MIT
#include "collector/record/system/machine_sampler.h"

#include <filesystem>

namespace headway::record {
namespace {

constexpr std::int64_t kSectorBytes = 512;  // of /proc/diskstats, whatever the disk's own are

/// Real disks: partitions are not in /sys/block, and what is stacked on disks would count twice.
std::set<std::string, std::less<>> list_disks() {
  std::set<std::string, std::less<>> names;
  std::error_code error;
  std::filesystem::directory_iterator entry("/sys/block", error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::string name = entry->path().filename().string();
    bool stacked = false;
    for (const char* prefix : {"loop", "ram", "zram", "dm-", "md"})
      stacked |= name.rfind(prefix, 0) == 0;
    if (!stacked) names.insert(name);
  }
  return names;
}

}  // namespace

MachineSampler::MachineSampler() : disk_names_(list_disks()) {}

void MachineSampler::sample(std::int64_t monotonic_ns, std::vector<Sample>& samples) {
  sample_cpu(samples);
  if (auto kilobytes = number_after(memory_.read(buffer_), "MemAvailable"))
    samples.push_back({"machine.memory_available", "bytes",
                       "Memory that programs can still get without swapping.", 0,
                       static_cast<double>(*kilobytes) * 1024});
  sample_disks(monotonic_ns, samples);
}

void MachineSampler::sample_cpu(std::vector<Sample>& samples) {
  // "cpu  user nice system idle iowait irq softirq steal …", in ticks since boot.
  std::string_view line = cpu_.read(buffer_);
  constexpr std::size_t kIdle = 4;
  constexpr std::size_t kIoWait = 5;
  constexpr std::size_t kSteal = 8;  // what follows is contained in user and nice
  std::int64_t total = 0;
  std::int64_t busy = 0;
  for (std::size_t i = 1; i <= kSteal; ++i) {
    std::int64_t ticks = number_at(line, i).value_or(0);
    total += ticks;
    if (i != kIdle && i != kIoWait) busy += ticks;
  }
  if (cpu_total_ > 0 && total > cpu_total_ && busy >= cpu_busy_)
    samples.push_back(
        {"machine.cpu", "%", "Busy share of all processors.", 0,
         100 * static_cast<double>(busy - cpu_busy_) / static_cast<double>(total - cpu_total_)});
  cpu_total_ = total;
  cpu_busy_ = busy;
}

void MachineSampler::sample_disks(std::int64_t monotonic_ns, std::vector<Sample>& samples) {
  std::string_view rest = disks_.read(buffer_);
  std::int64_t sectors = 0;
  bool any = false;
  while (!rest.empty()) {
    std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    // "major minor name reads merged sectors_read …"
    std::size_t name_begin = 0;
    for (int field = 0; field < 2; ++field) {
      name_begin = line.find_first_not_of(' ', name_begin);
      name_begin = line.find(' ', std::min(name_begin, line.size()));
    }
    name_begin = line.find_first_not_of(' ', std::min(name_begin, line.size()));
    if (name_begin == std::string_view::npos) continue;
    std::string_view from_name = line.substr(name_begin);
    if (!disk_names_.contains(from_name.substr(0, from_name.find(' ')))) continue;
    if (auto read = number_at(from_name, 3)) {
      sectors += *read;
      any = true;
    }
  }
  if (!any) return;
  if (auto rate = disk_read_.next(monotonic_ns, sectors * kSectorBytes))
    samples.push_back({"machine.disk_read", "bytes/s", "Read from all disks.", 0, *rate});
}

}  // namespace headway::record
