// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "collector/record/messages/gpu_series.h"
#include "collector/record/messages/messages.h"
#include "collector/record/system/nvml.h"
#include "collector/record/system/rate.h"

namespace headway::record {

/// Samples the state of every GPU of the machine by NVML, `hz` times a second. To be run in its own
/// thread, because NVML takes 20 ms for some answers. Costs the recorded programs nothing.
class GpuSampler {
 public:
  /// `hz` 0: no samples.
  GpuSampler(int hz, MessageQueue& queue) : hz_(hz), queue_(queue) {}
  ~GpuSampler();

  /// Starts NVML, which may take half a second, and samples until `finish`.
  void run();
  /// Thread-safe.
  void finish() { finishing_ = true; }
  /// After `run`: empty when GPUs were sampled; else the reason why not.
  const std::string& unavailable() const { return unavailable_; }

 private:
  struct Gpu {
    Nvml::Device device = nullptr;
    std::string uuid;
    bool has_gpm = false;     ///< the device has GPM counters (Hopper and newer)
    void* gpm[2] = {};        ///< the previous sample and this one
    bool gpm_filled = false;  ///< `gpm[0]` holds a sample
    Rate nvlink_received, nvlink_sent;
    std::int64_t next_pcie_ns = 0;  ///< NVML takes 20 ms for PCIe: sampled less often
  };
  void open();
  void sample(std::int64_t monotonic_ns, std::vector<Sample>& samples);
  void add(const Gpu& gpu, const GpuSeries& series, double value, std::vector<Sample>& samples);
  void sample_states(Gpu& gpu, std::vector<Sample>& samples);
  void sample_gpm(Gpu& gpu, std::vector<Sample>& samples);
  void sample_links(Gpu& gpu, std::int64_t monotonic_ns, std::vector<Sample>& samples);

  int hz_;
  MessageQueue& queue_;
  std::atomic<bool> finishing_ = false;
  Nvml nvml_;
  std::vector<Gpu> gpus_;
  std::string unavailable_;
};

}  // namespace headway::record
