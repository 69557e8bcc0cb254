// SPDX-License-Identifier: MIT
#include "collector/doctor/pci.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

namespace headway::doctor {
namespace {

const std::string kDevices = "/sys/bus/pci/devices/";

/// "0000:17:00.0"
bool is_address(std::string_view text) {
  return text.size() >= 12 && text[text.size() - 2] == '.' && text[text.size() - 5] == ':' &&
         std::ranges::count(text, ':') == 2;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

int number_or(std::string_view text, int otherwise) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end != text.data() ? value : otherwise;
}

std::size_t common_length(const PciDevice& a, const PciDevice& b) {
  if (a.root != b.root) return 0;
  std::size_t length = 0;
  while (length < a.path.size() && length < b.path.size() && a.path[length] == b.path[length])
    ++length;
  return length;
}

/// The number of bridges on the device's path between the common part and the device itself.
std::size_t bridges_below(const PciDevice& device, std::size_t common) {
  return device.path.size() > common ? device.path.size() - common - 1 : 0;
}

/// Reads a little-endian number; bytes beyond the end are 0.
std::uint32_t word_at(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i)
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return value;
}

}  // namespace

std::optional<PciDevice> pci_device(const System& system, const std::string& link) {
  std::istringstream parts(system.resolve(link));
  PciDevice device;
  for (std::string part; std::getline(parts, part, '/');) {
    if (part.starts_with("pci") && part.find(':') != std::string::npos) {
      device.root = part;
      device.path.clear();
    } else if (!device.root.empty() && is_address(part)) {
      device.path.push_back(part);
    }
  }
  if (device.path.empty()) return std::nullopt;
  device.address = device.path.back();
  device.numa_node = number_or(system.read(kDevices + device.address + "/numa_node"), -1);
  device.local_cpus = system.read(kDevices + device.address + "/local_cpulist");
  return device;
}

std::vector<PciDevice> find_gpus(const System& system) {
  std::vector<PciDevice> gpus;
  for (const std::string& name : system.list("/proc/driver/nvidia/gpus"))
    if (auto device = pci_device(system, kDevices + lower(name))) gpus.push_back(*device);
  return gpus;
}

std::string_view distance_name(Distance distance) {
  switch (distance) {
    case Distance::kPix:
      return "PIX";
    case Distance::kPxb:
      return "PXB";
    case Distance::kPhb:
      return "PHB";
    case Distance::kNode:
      return "NODE";
    case Distance::kSys:
      return "SYS";
  }
  return "SYS";
}

Distance distance(const PciDevice& a, const PciDevice& b) {
  if (a.root != b.root) return a.numa_node == b.numa_node ? Distance::kNode : Distance::kSys;
  const std::size_t common = common_length(a, b);
  if (common == 0) return Distance::kPhb;
  // A switch has one upstream port, and a downstream port for each device. Two devices of one switch have the
  // upstream port in common, so one port lies between it and each device.
  const std::size_t most = std::max(bridges_below(a, common), bridges_below(b, common));
  return most <= 1 ? Distance::kPix : Distance::kPxb;
}

std::vector<std::string> bridges_between(const PciDevice& a, const PciDevice& b) {
  const std::size_t common = common_length(a, b);
  std::vector<std::string> bridges;
  if (common == 0) return bridges;
  for (const PciDevice* device : {&a, &b})
    for (std::size_t i = 0; i < bridges_below(*device, common); ++i)
      bridges.push_back(device->path[common + i]);
  return bridges;
}

// linux/pci_regs.h
bool Acs::redirects() const {
  constexpr std::uint16_t kRequestRedirect = 0x04;
  constexpr std::uint16_t kCompletionRedirect = 0x08;
  return (control & (kRequestRedirect | kCompletionRedirect)) != 0;
}

bool Acs::lets_translated_pass() const {
  constexpr std::uint16_t kDirectTranslated = 0x40;
  return (control & kDirectTranslated) != 0;
}

Acs read_acs(const System& system, const std::string& address) {
  constexpr std::size_t kExtended = 0x100;  // where the extended capabilities begin
  constexpr std::uint32_t kAcsId = 0x0d;
  constexpr std::size_t kControl = 6;  // of the capability
  const std::string bytes = system.read(kDevices + address + "/config");
  Acs acs;
  acs.readable = bytes.size() > kExtended;
  std::size_t at = kExtended;
  // Each capability takes at least 8 bytes, so a longer list would be a cycle.
  for (int left = (4096 - 256) / 8; left > 0 && at >= kExtended && at + 4 <= bytes.size(); --left) {
    const std::uint32_t header = word_at(bytes, at, 4);
    if (header == 0 || header == UINT32_MAX) break;
    if ((header & 0xffff) == kAcsId) {
      acs.control = static_cast<std::uint16_t>(word_at(bytes, at + kControl, 2));
      break;
    }
    at = (header >> 20) & 0xffc;
  }
  return acs;
}

std::vector<int> parse_cpu_list(std::string_view text) {
  constexpr int kMost = 65535;
  std::vector<int> cpus;
  std::istringstream parts{std::string(text)};
  for (std::string part; std::getline(parts, part, ',');) {
    const int first = number_or(part, -1);
    const std::size_t dash = part.find('-');
    const int last =
        dash == std::string::npos ? first : number_or(std::string_view(part).substr(dash + 1), -1);
    for (int cpu = first; cpu >= 0 && cpu <= std::min(last, kMost); ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace headway::doctor
