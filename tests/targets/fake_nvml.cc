// SPDX-License-Identifier: MIT
// A libnvidia-ml.so.1 for machines without a driver: two GPUs, the second one without GPM (as before
// Hopper). FAKE_NVML_FAILS=1: it does not start. FAKE_NVML_OLD=1: the throttle reasons have their
// name from before R535 only.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;
constexpr int kNotSupported = 3;
constexpr int kDriverNotLoaded = 9;

bool g_started = false;
std::uint64_t g_moved_kib = 0;  // over all links
int g_devices[2];

bool is_first(void* device) {
  return device == &g_devices[0];
}

struct Field {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency_us;
  int value_type;
  int result;
  std::uint64_t value;
};
struct Metric {
  unsigned id;
  int result;
  double value;
  const char* names[3];
};
struct Metrics {
  unsigned version;
  unsigned count;
  void* first;
  void* second;
  Metric metrics[98];
};

}  // namespace

FAKE int nvmlInit_v2() {
  if (std::getenv("FAKE_NVML_FAILS")) return kDriverNotLoaded;
  g_started = true;
  return kSuccess;
}
FAKE int nvmlShutdown() {
  g_started = false;
  return kSuccess;
}
FAKE const char* nvmlErrorString(int error) {
  return error == kDriverNotLoaded ? "Driver Not Loaded" : "another error";
}
FAKE int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return g_started ? kSuccess : kDriverNotLoaded;
}
FAKE int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index > 1) return kInvalidArgument;
  *device = &g_devices[index];
  return kSuccess;
}
FAKE int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
  // The first is the pretended CUPTI's device: "0123456789abcdef" in hexadecimal.
  const char* text = is_first(device) ? "GPU-30313233-3435-3637-3839-616263646566"
                                      : "GPU-11111111-2222-3333-4444-555555555555";
  if (std::strlen(text) >= length) return kInvalidArgument;
  std::strcpy(uuid, text);
  return kSuccess;
}
FAKE int nvmlDeviceGetUtilizationRates(void*, unsigned (*rates)[2]) {
  (*rates)[0] = 87;
  (*rates)[1] = 34;
  return kSuccess;
}
FAKE int nvmlDeviceGetMemoryInfo(void*, unsigned long long (*info)[3]) {
  (*info)[0] = 141ull << 30;
  (*info)[1] = 100ull << 30;
  (*info)[2] = 41ull << 30;
  return kSuccess;
}
FAKE int nvmlDeviceGetClockInfo(void*, unsigned kind, unsigned* mhz) {
  *mhz = kind == 1 ? 1410 : 2619;
  return kSuccess;
}
FAKE int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 0x4;
  return kSuccess;
}
FAKE int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* reasons) {
  *reasons = 0x4;
  return kSuccess;
}
FAKE int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 651'500;
  return kSuccess;
}
FAKE int nvmlDeviceGetTemperature(void* device, unsigned, unsigned* celsius) {
  if (!is_first(device)) return kNotSupported;
  *celsius = 61;
  return kSuccess;
}
FAKE int nvmlDeviceGetPcieThroughput(void*, unsigned direction, unsigned* kilobytes) {
  *kilobytes = direction == 0 ? 1000 : 2000;
  return kSuccess;
}
FAKE int nvmlDeviceGetFieldValues(void*, int count, Field* fields) {
  g_moved_kib += 1024;
  for (int i = 0; i < count; ++i) {
    fields[i].result = fields[i].field == 138 || fields[i].field == 139 ? kSuccess : kNotSupported;
    fields[i].value = g_moved_kib;
  }
  return kSuccess;
}
FAKE int nvmlGpmQueryDeviceSupport(void* device, unsigned (*support)[2]) {
  if ((*support)[0] != 1) return kInvalidArgument;
  (*support)[1] = is_first(device);
  return kSuccess;
}
FAKE int nvmlGpmSampleAlloc(void** sample) {
  *sample = std::calloc(1, 1);
  return kSuccess;
}
FAKE int nvmlGpmSampleFree(void* sample) {
  std::free(sample);
  return kSuccess;
}
FAKE int nvmlGpmSampleGet(void*, void* sample) {
  *static_cast<char*>(sample) = 1;
  return kSuccess;
}
FAKE int nvmlGpmMetricsGet(Metrics* metrics) {
  // Both samples must have been taken.
  if (metrics->version != 1 || !*static_cast<char*>(metrics->first) ||
      !*static_cast<char*>(metrics->second))
    return kInvalidArgument;
  for (unsigned i = 0; i < metrics->count; ++i) {
    metrics->metrics[i].result = metrics->metrics[i].id == 5 ? kNotSupported : kSuccess;
    metrics->metrics[i].value = metrics->metrics[i].id;
  }
  return kSuccess;
}
