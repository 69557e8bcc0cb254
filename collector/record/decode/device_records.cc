// SPDX-License-Identifier: MIT
// Records about devices, not about work on them: their properties, memory and clocks.
#include <fmt/format.h>

#include "collector/record/decode/activity_decoder.h"
#include "trace/tables/cuda_device.h"
#include "trace/tables/cuda_memory_pool.h"
#include "trace/tables/cuda_memory_usage.h"
#include "trace/tables/cuda_stream.h"
#include "trace/tables/stream.h"
#include "trace/tables/target_info_gpu.h"

namespace headway::record {
namespace {

namespace activity = wire::activity;
namespace tables = trace::tables;

constexpr std::uint32_t kRelease = 2;
constexpr std::uint32_t kLocalPool = 1;
constexpr std::uint32_t kImportedPool = 2;

std::string uuid_text(const std::uint8_t (&uuid)[16]) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

std::int64_t number(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

}  // namespace

void ActivityDecoder::write(const activity::Device& record) {
  const std::string uuid = uuid_text(record.uuid);
  const std::int64_t gpu = gpus_.of(uuid);
  gpu_of_device_[record.id] = gpu;
  if (gpus_.is_first_description(gpu)) {
    tables::TargetInfoGpu::Row row;
    row.id = gpu;
    const std::string* name = definitions_.at_address(record.name);
    if (name) row.gpu_name = sink_.keep(*name);
    row.total_memory = number(record.memory_bytes);
    // In kB/s, bounded so that the product does not overflow.
    row.memory_bandwidth = number(std::min(record.memory_bandwidth, std::uint64_t{1} << 50)) * 1000;
    row.clock_rate = std::int64_t{record.core_clock} * 1000;
    row.sm_count = record.multiprocessors;
    row.sm_major = record.capability_major;
    row.sm_minor = record.capability_minor;
    row.l2_bytes = record.l2_bytes;
    row.uuid = sink_.keep(uuid);
    row.constant_memory = record.constant_memory;
    row.block_registers = record.block_registers;
    row.block_shared_memory = record.block_shared_memory;
    row.sm_shared_memory = record.sm_shared_memory;
    row.sm_registers = record.sm_registers;
    row.warp_threads = record.warp_threads;
    row.copy_engines = record.copy_engines;
    row.sm_warps = record.sm_warps;
    row.sm_blocks = record.sm_blocks;
    row.block_threads = record.block_threads;
    sink_.add<tables::TargetInfoGpu>(row);
  }
  tables::CudaDevice::Row row;
  row.gpu_id = gpu;
  row.cuda_id = record.id;
  row.pid = pid_;
  row.uuid = sink_.keep(uuid);
  row.multiprocessors = record.multiprocessors;
  sink_.add<tables::CudaDevice>(row);
}

void ActivityDecoder::write(const activity::Stream& record) {
  tables::CudaStream::Row row;
  row.stream_id = static_cast<std::int32_t>(record.stream);
  row.process_id = pid_;
  row.context_id = static_cast<std::int32_t>(record.context);
  row.priority = static_cast<std::int32_t>(record.priority);
  row.flag = record.flag;
  sink_.add<tables::CudaStream>(row);
  stream_context_[record.stream] = record.context;
}

void ActivityDecoder::finish() {
  for (const auto& [stream, name] : definitions_.stream_names()) {
    auto context = stream_context_.find(static_cast<std::uint32_t>(stream));
    tables::Stream::Row row;
    row.global_pid = global_pid(pid_);
    row.device_id = context == stream_context_.end() ? 0 : device_of(context->second);
    row.stream_id = static_cast<std::int32_t>(stream);
    row.stream_name = sink_.keep(name);
    row.device_type = 1;  // CUDA
    sink_.add<tables::Stream>(row);
  }
}

void ActivityDecoder::write(const activity::Memory& record) {
  std::optional<std::int64_t> time = time_of(record.timestamp);
  if (!time) return;
  tables::CudaMemoryUsage::Row row;
  row.start = *time;
  row.global_pid = global_pid(pid_);
  row.device_id = record.device;
  row.context_id = record.context;
  row.address = number(record.address);
  row.pc = number(record.pc);
  row.bytes = number(record.bytes);
  constexpr std::int64_t kUnknown = 7;
  row.mem_kind = memory_kind(record.memory_kind).value_or(kUnknown);
  row.operation = record.operation == kRelease;
  if (const std::string* name = record.name ? definitions_.at_address(record.name) : nullptr)
    row.variable = sink_.keep(*name);
  row.correlation_id = record.correlation;
  if (record.is_async) row.stream_id = record.stream;
  if (record.pool_type == kLocalPool) {
    row.local_pool_address = number(record.pool_address);
    row.local_pool_threshold = number(record.pool_threshold);
    row.local_pool_size = number(record.pool_size);
    row.local_pool_used = number(record.pool_used);
  } else if (record.pool_type == kImportedPool) {
    row.imported_pool_address = number(record.pool_address);
    row.imported_pool_process = number(record.pool_size);
  }
  sink_.add<tables::CudaMemoryUsage>(row);
}

void ActivityDecoder::write(const activity::MemoryPool& record) {
  std::optional<std::int64_t> time = time_of(record.timestamp);
  if (!time) return;
  tables::CudaMemoryPool::Row row;
  row.start = *time;
  row.global_pid = global_pid(pid_);
  row.device_id = record.device;
  row.address = number(record.address);
  row.operation = record.operation;
  row.pool_type = record.pool_type;
  row.correlation_id = record.correlation;
  constexpr std::uint32_t kTrimmed = 3;
  if (record.operation == kTrimmed) row.min_bytes_to_keep = number(record.min_bytes_to_keep);
  if (record.pool_type == kLocalPool) {
    row.release_threshold = number(record.release_threshold);
    row.size = number(record.size);
    row.used = number(record.used);
  }
  sink_.add<tables::CudaMemoryPool>(row);
}

void ActivityDecoder::write(const activity::Environment& record) {
  const std::optional<Interval> when = interval_of(record.timestamp, record.timestamp);
  auto gpu = gpu_of_device_.find(record.device);
  if (!when || gpu == gpu_of_device_.end()) return;
  TimeNs& before =
      environment_.try_emplace({record.device, record.environment}, when->end).first->second;
  const Interval covered{std::exchange(before, when->end), when->end};
  if (!scope_.keeps_sample(covered)) return;
  auto add = [&](const GpuSeries& series, double value) {
    counters_.add({series.name, series.unit, series.description, 0, gpu->second}, when->end.ns,
                  value);
  };
  switch (static_cast<activity::EnvironmentKind>(record.environment)) {
    case activity::EnvironmentKind::kSpeed:
      add(kGpuSmClock, record.data[0] * 1e6);
      add(kGpuMemoryClock, record.data[1] * 1e6);
      add(kGpuThrottleReasons, record.data[4]);
      return;
    case activity::EnvironmentKind::kTemperature:
      add(kGpuTemperature, record.data[0]);
      return;
    case activity::EnvironmentKind::kPower:
      add(kGpuPower, record.data[0] / 1e3);
      return;
  }
}

}  // namespace headway::record
