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

/// Asks NVML, `hz` times a second, how every GPU of the machine is doing. Runs in a thread of its
/// own, because some answers take NVML 20 ms. Costs the recorded programs nothing.
class GpuSampler {
 public:
  /// `hz` 0: never.
  GpuSampler(int hz, MessageQueue& queue) : hz_(hz), queue_(queue) {}
  ~GpuSampler();

  /// Starts NVML, which may take half a second, and samples until `finish`.
  void run();
  /// Thread-safe.
  void finish() { finishing_ = true; }
  /// After `run`: empty when there were GPUs to be asked; else why not.
  const std::string& unavailable() const { return unavailable_; }

 private:
  struct Gpu {
    Nvml::Device device = nullptr;
    std::string uuid;
    bool has_gpm = false;     ///< counters of the device itself (Hopper and newer)
    void* gpm[2] = {};        ///< the sample before and this one
    bool gpm_filled = false;  ///< `gpm[0]` holds a sample
    Rate nvlink_received, nvlink_sent;
    std::int64_t next_pcie_ns = 0;  ///< PCIe takes NVML 20 ms an answer: asked more seldom
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
