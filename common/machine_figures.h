// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What `headway calibrate` measures of a machine. A recording does not contain these figures, or
/// only if it happens to show enough of them. cli/calibrate/ measures them; the analyzer stores
/// them in a file and uses them.
namespace headway {

/// In the order of the file and of the printed output.
enum class MachineFigure : std::uint8_t {
  // of the host
  kWakeUp,
  kClockRead,
  kHostCopy,
  kHostCopyAll,
  kHostTriad,
  kHostFp32,
  kHostCollective,
  // of a device
  kLaunch,
  kKernelGap,
  kSync,
  kKernelPeriod,
  kRoundTrip,
  kIdleSync,
  kToDevicePinned,
  kToDevicePageable,
  kFromDevicePinned,
  kFromDevicePageable,
  kDeviceTriad,
  kGemmFp32,
  kGemmTf32,
  kGemmFp16,
  kGemmBf16,
  kCollective,
  kCount_,
};
inline constexpr std::size_t kMachineFigureCount = static_cast<std::size_t>(MachineFigure::kCount_);

enum class FigureUnit : std::uint8_t { kNs, kBytesPerSecond, kFlops };
std::string_view unit_name(FigureUnit unit);  ///< "ns", "bytes/s", "flop/s"

struct MachineFigureInfo {
  MachineFigure figure;
  std::string_view id;  ///< "kernel_gap": stable
  bool of_device;       ///< false: of the host
  FigureUnit unit;
  std::string_view label;  ///< "kernel gap"
  std::string_view doc;    ///< what was measured, one sentence
};
/// Indexed by MachineFigure.
std::span<const MachineFigureInfo> machine_figures();
const MachineFigureInfo& info(MachineFigure figure);

/// Percentiles of one measured figure, in its unit. A sample of a rate is one repetition, so p95 is
/// close to the fastest.
struct FigureValue {
  double p5 = 0;
  double p50 = 0;
  double p95 = 0;
  std::int64_t samples = 0;
};

/// Percentiles of `samples`; nullopt if there are none.
std::optional<FigureValue> figure_of(std::vector<double> samples);

/// "1.30 µs", "4.21 TB/s", "62.1 TFLOP/s".
std::string format_figure(FigureUnit unit, double value);

class FigureSet {
 public:
  const std::optional<FigureValue>& operator[](MachineFigure figure) const {
    return of_[static_cast<std::size_t>(figure)];
  }
  std::optional<FigureValue>& operator[](MachineFigure figure) {
    return of_[static_cast<std::size_t>(figure)];
  }

 private:
  std::array<std::optional<FigureValue>, kMachineFigureCount> of_;
};

/// A figure that was not measured, and why. It then has no value; none is guessed.
struct AbsentFigure {
  MachineFigure figure;
  std::string why;
};

/// The time of a collective: latency + bytes / bandwidth, fitted to measured times of several
/// sizes.
struct MeasuredCollective {
  std::string backend;  ///< what moved the bytes: "shm", "mpi", "nccl"
  std::string kind;     ///< as in recordings: "allreduce"
  std::int32_t ranks = 0;
  double latency_ns = 0;
  double bytes_per_s = 0;  ///< bytes of the full message per second
  /// Median relative deviation of the measured sizes from the fitted line.
  double deviation = 0;
  std::int64_t least_bytes = 0;  ///< the smallest message that was measured
  std::int64_t most_bytes = 0;
  std::int64_t samples = 0;
};

struct MeasuredDevice {
  std::string name;    ///< as in the driver and in recordings: "NVIDIA H200"
  std::string driver;  ///< "CUDA 13.0"
  std::int64_t memory_bytes = 0;
  FigureSet figures;
  std::vector<AbsentFigure> absent;
  std::vector<MeasuredCollective> collectives = {};  ///< between GPUs of this kind
};

struct MeasuredHost {
  std::string name;       ///< host name
  std::string processor;  ///< as in recordings: "AMD EPYC 9654"
  std::string system;     ///< "Linux 6.1.0 x86_64"
  std::int32_t processors = 0;
  std::int64_t memory_bytes = 0;
  FigureSet figures;
  std::vector<AbsentFigure> absent;
  std::vector<MeasuredCollective> collectives = {};  ///< between processes of this host
};

/// One run of `headway calibrate`.
struct MachineCalibration {
  std::string measured;      ///< UTC time: "2026-11-22T09:10:00Z"
  std::string tool_version;  ///< of Headway
  MeasuredHost host;
  std::vector<MeasuredDevice> devices;  ///< one for each device name; may be empty
};

}  // namespace headway
