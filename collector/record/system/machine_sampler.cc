// SPDX-License-Identifier: MIT
#include "collector/record/system/machine_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace headway::record {
namespace {

constexpr std::int64_t kSectorBytes = 512;  // of /proc/diskstats, whatever the disk's own are
// For all cores together: 256 cores at 10 Hz would fill 200 MB an hour.
constexpr std::int64_t kMaxCoreSamplesPerSecond = 160;

using Names = std::set<std::string, std::less<>>;

Names list_folder(const char* folder) {
  Names names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    names.insert(entry->path().filename().string());
  return names;
}

/// Real disks only: partitions are not in /sys/block, and devices stacked on disks (RAID, LVM) would
/// count twice.
Names list_disks() {
  Names names = list_folder("/sys/block");
  std::erase_if(names, [](const std::string& name) {
    bool stacked = false;
    for (const char* prefix : {"loop", "ram", "zram", "dm-", "md"})
      stacked |= name.starts_with(prefix);
    return stacked;
  });
  return names;
}

/// Hardware interfaces; in a container, which has none, all but the loopback. Bridges and tunnels
/// would count their traffic twice.
Names list_interfaces() {
  Names all = list_folder("/sys/class/net");
  Names real;
  for (const std::string& name : all) {
    std::error_code error;
    if (std::filesystem::exists("/sys/class/net/" + name + "/device", error)) real.insert(name);
  }
  if (!real.empty()) return real;
  all.erase("lo");
  return all;
}

std::string_view take_line(std::string_view& rest) {
  std::size_t end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

std::string_view trim_left(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

}  // namespace

MachineSampler::MachineSampler(int hz)
    : hz_(hz), disk_names_(list_disks()), interface_names_(list_interfaces()) {
  auto add = [&](const char* file, const char* key, const char* name, const char* description) {
    ProcFile pressure(file);
    if (pressure) pressures_.push_back({key, name, description, std::move(pressure)});
  };
  add("/proc/pressure/cpu", "some", "machine.pressure_cpu",
      "Time in which a task waited for a processor.");
  add("/proc/pressure/io", "some", "machine.pressure_io", "Time in which a task waited for I/O.");
  add("/proc/pressure/io", "full", "machine.pressure_io_full",
      "Time in which all active tasks waited for I/O.");
  add("/proc/pressure/memory", "some", "machine.pressure_memory",
      "Time in which a task waited for memory.");
  add("/proc/pressure/memory", "full", "machine.pressure_memory_full",
      "Time in which all active tasks waited for memory.");
}

void MachineSampler::sample(std::int64_t monotonic_ns, std::vector<Sample>& samples) {
  sample_cpus(samples);
  if (auto kilobytes = number_after(memory_.read(buffer_), "MemAvailable"))
    samples.push_back({"machine.memory_available", "bytes",
                       "Memory available to programs without swapping.", 0,
                       static_cast<double>(*kilobytes) * 1024});
  sample_disks(monotonic_ns, samples);
  sample_network(monotonic_ns, samples);
  sample_pressure(monotonic_ns, samples);
  ++samples_taken_;
}

void MachineSampler::sample_cpus(std::vector<Sample>& samples) {
  std::string_view rest = stat_.read(buffer_);
  sample_cpu(all_, take_line(rest), "Busy share of all processors.", samples);
  auto cores = static_cast<std::int64_t>(cores_.size());
  std::int64_t stride = 1 + cores * hz_ / kMaxCoreSamplesPerSecond;
  if (samples_taken_ % stride != 0) return;
  for (std::size_t i = 0; rest.starts_with("cpu"); ++i) {
    std::string_view line = take_line(rest);
    if (rest.empty()) return;  // cut by the buffer: a whole file has lines after the processors
    if (i == cores_.size()) {
      std::string_view number = line.substr(3, line.find(' ') - 3);
      cores_.push_back({fmt::format("machine.cpu.{}", number)});
    }
    sample_cpu(cores_[i], line, "Busy share of one processor.", samples);
  }
}

void MachineSampler::sample_cpu(Cpu& cpu, std::string_view line, std::string_view description,
                                std::vector<Sample>& samples) {
  // "cpu  user nice system idle iowait irq softirq steal …", in ticks since boot.
  constexpr std::size_t kIdle = 4;
  constexpr std::size_t kIoWait = 5;
  constexpr std::size_t kSteal = 8;  // the later fields are contained in user and nice
  std::int64_t total = 0;
  std::int64_t busy = 0;
  for (std::size_t i = 1; i <= kSteal; ++i) {
    std::int64_t ticks = number_at(line, i).value_or(0);
    total += ticks;
    if (i != kIdle && i != kIoWait) busy += ticks;
  }
  if (cpu.total > 0 && total > cpu.total && busy >= cpu.busy)
    samples.push_back(
        {cpu.name, "%", description, 0,
         100 * static_cast<double>(busy - cpu.busy) / static_cast<double>(total - cpu.total)});
  cpu.total = total;
  cpu.busy = busy;
}

void MachineSampler::sample_disks(std::int64_t monotonic_ns, std::vector<Sample>& samples) {
  std::string_view rest = disks_.read(buffer_);
  std::int64_t sectors_read = 0;
  std::int64_t sectors_written = 0;
  std::optional<double> busiest;
  bool any = false;
  while (!rest.empty()) {
    // "major minor name reads merged sectors_read ms_reading writes merged sectors_written
    // ms_writing in_progress ms_busy …"
    std::string_view line = take_line(rest);
    for (int field = 0; field < 2; ++field) {
      line = trim_left(line);
      line.remove_prefix(std::min(line.find(' '), line.size()));
    }
    line = trim_left(line);
    std::string_view name = line.substr(0, line.find(' '));
    if (!disk_names_.contains(name)) continue;
    auto read = number_at(line, 3);
    auto written = number_at(line, 7);
    auto busy_ms = number_at(line, 10);
    if (!read || !written || !busy_ms) continue;
    sectors_read += *read;
    sectors_written += *written;
    any = true;
    auto known = disk_busy_.find(name);
    if (known == disk_busy_.end()) known = disk_busy_.emplace(name, Rate{}).first;
    if (auto rate = known->second.next(monotonic_ns, *busy_ms))
      busiest = std::max(busiest.value_or(0), std::min(*rate / 10, 100.0));
  }
  if (!any) return;
  if (auto rate = disk_read_.next(monotonic_ns, sectors_read * kSectorBytes))
    samples.push_back({"machine.disk_read", "bytes/s", "Read from all disks.", 0, *rate});
  if (auto rate = disk_written_.next(monotonic_ns, sectors_written * kSectorBytes))
    samples.push_back({"machine.disk_write", "bytes/s", "Written to all disks.", 0, *rate});
  if (busiest)
    samples.push_back({"machine.disk_busy", "%",
                       "Time in which the busiest disk had requests. A parallel disk may have "
                       "spare capacity at 100 %.",
                       0, *busiest});
}

void MachineSampler::sample_network(std::int64_t monotonic_ns, std::vector<Sample>& samples) {
  std::string_view rest = network_.read(buffer_);
  std::int64_t received = 0;
  std::int64_t sent = 0;
  bool any = false;
  while (!rest.empty()) {
    // "name: bytes packets errs drop fifo frame compressed multicast bytes packets …"
    std::string_view line = trim_left(take_line(rest));
    std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !interface_names_.contains(line.substr(0, colon)))
      continue;
    std::string_view numbers = line.substr(colon + 1);
    auto in = number_at(numbers, 0);
    auto out = number_at(numbers, 8);
    if (!in || !out) continue;
    received += *in;
    sent += *out;
    any = true;
  }
  if (!any) return;
  if (auto rate = received_.next(monotonic_ns, received))
    samples.push_back({"machine.network_received", "bytes/s",
                       "Received over all network interfaces (not InfiniBand's own traffic).", 0,
                       *rate});
  if (auto rate = sent_.next(monotonic_ns, sent))
    samples.push_back({"machine.network_sent", "bytes/s",
                       "Sent over all network interfaces (not InfiniBand's own traffic).", 0,
                       *rate});
}

void MachineSampler::sample_pressure(std::int64_t monotonic_ns, std::vector<Sample>& samples) {
  for (Pressure& pressure : pressures_) {
    // "some avg10=0.00 avg60=0.00 avg300=0.00 total=123", in us since boot.
    std::string_view text = pressure.file.read(buffer_);
    std::size_t line = text.find(pressure.key);
    std::size_t total = text.find("total=", std::min(line, text.size()));
    if (line == std::string_view::npos || total == std::string_view::npos) continue;
    auto sum = number_at(text.substr(total + 6), 0);
    if (!sum) continue;
    if (auto rate = pressure.rate.next(monotonic_ns, *sum))
      samples.push_back(
          {pressure.name, "%", pressure.description, 0, std::min(*rate / 1e4, 100.0)});
  }
}

}  // namespace headway::record
