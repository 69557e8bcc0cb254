// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace headway::record {

/// libnvidia-ml.so.1 of the driver, loaded at run time: it may be missing, and there is no header to
/// build against. The declarations here are its binary interface, stable since R450. A function that
/// the library lacks is null. Not thread-safe.
class Nvml {
 public:
  using Device = void*;
  static constexpr int kSuccess = 0;

  struct Utilisation {
    unsigned gpu;     ///< %
    unsigned memory;  ///< %
  };
  struct Memory {
    unsigned long long total;  ///< bytes; also the next two
    unsigned long long free;
    unsigned long long used;
  };
  struct FieldValue {
    unsigned field;  ///< NVML_FI_*, set by the caller
    unsigned scope;
    long long timestamp;  ///< us of CLOCK_REALTIME
    long long latency_us;
    int value_type;  ///< 0 double, 1 unsigned, 2 unsigned long, 3 unsigned long long
    int result;      ///< kSuccess, or why this field has no value
    std::uint64_t value;
  };
  static_assert(sizeof(FieldValue) == 40);
  struct GpmSupport {
    unsigned version;
    unsigned supported;
  };
  struct GpmMetric {
    unsigned id;  ///< NVML_GPM_METRIC_*, set by the caller
    int result;   ///< kSuccess, or why there is no value
    double value;
    const char* names[3];
  };
  static_assert(sizeof(GpmMetric) == 40);
  struct GpmMetrics {
    unsigned version;
    unsigned count;  ///< of `metrics`
    void* first;     ///< sample before
    void* second;    ///< sample after: metrics are means between the two
    /// NVML's own struct has an entry for every metric; it reads and writes only `count` entries.
    GpmMetric metrics[16];
  };

  /// Whether the library is installed. Fast, while `open` may take half a second.
  static bool is_installed();
  /// Starts NVML. Empty when it can be used, else the reason why not.
  std::string open();
  ~Nvml();
  Nvml() = default;
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*device_count)(unsigned*) = nullptr;
  int (*device)(unsigned, Device*) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  int (*utilisation)(Device, Utilisation*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*clock)(Device, unsigned kind, unsigned* mhz) = nullptr;
  int (*throttle_reasons)(Device, unsigned long long*) = nullptr;
  int (*power)(Device, unsigned* milliwatts) = nullptr;
  int (*temperature)(Device, unsigned sensor, unsigned* celsius) = nullptr;
  int (*pcie_throughput)(Device, unsigned direction, unsigned* kilobytes_per_s) = nullptr;
  int (*fields)(Device, int, FieldValue*) = nullptr;
  int (*gpm_support)(Device, GpmSupport*) = nullptr;
  int (*gpm_allocate)(void**) = nullptr;
  int (*gpm_sample)(Device, void*) = nullptr;
  int (*gpm_metrics)(GpmMetrics*) = nullptr;
  int (*gpm_free)(void*) = nullptr;

 private:
  void* library_ = nullptr;
  bool initialised_ = false;
};

}  // namespace headway::record
