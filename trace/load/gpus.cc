// SPDX-License-Identifier: MIT
// What a file says about its GPUs: TARGET_INFO_GPU since mid 2021, TARGET_INFO_CUDA_GPU before, the
// JSON of TARGET_INFO_SYSTEM_ENV where neither was exported. TARGET_INFO_CUDA_DEVICE maps the CUDA
// devices of each process to GPUs.
#include "trace/load/context.h"
#include "trace/load/foreign_values.h"
#include "trace/tables/cuda_device.h"
#include "trace/tables/target_info_gpu.h"

namespace headway::trace::load_detail {
namespace {

Device& gpu(Context& context, std::int64_t ordinal) {
  DeviceId id = context.device(DeviceType::kCuda, ProcessId::none(), ordinal);
  return context.trace.devices[id.value];
}

bool load_current(Context& context) {
  using Gpu = tables::TargetInfoGpu;
  bool any = false;
  sqlite::Select<Gpu, &Gpu::Row::id, &Gpu::Row::gpu_name, &Gpu::Row::sm_count, &Gpu::Row::sm_major,
                 &Gpu::Row::sm_minor, &Gpu::Row::total_memory, &Gpu::Row::memory_bandwidth,
                 &Gpu::Row::clock_rate>::run(context.db, [&](std::int64_t, const Gpu::Row& row) {
    Device& device = gpu(context, row.id);
    device.name = std::string(row.gpu_name.value_or(""));
    device.cores = count_of(row.sm_count.value_or(0));
    device.compute_major = count_of(row.sm_major.value_or(0));
    device.compute_minor = count_of(row.sm_minor.value_or(0));
    device.memory_bytes = bytes_of(row.total_memory.value_or(0));
    device.memory_bytes_per_second = bytes_of(row.memory_bandwidth.value_or(0));
    device.max_clock_hz = count_of<std::int64_t>(row.clock_rate.value_or(0));
    any = true;
  });
  return any;
}

/// Reads the GPUs from a query with the columns id, name, multiprocessors, major, minor, memory,
/// bandwidth, clock. False when it has no row.
bool load_query(Context& context, std::string_view sql) {
  sqlite::Statement statement = context.db.prepare(sql);
  bool any = false;
  while (statement.step()) {
    Device& device = gpu(context, statement.int64(0));
    device.name = std::string(statement.text(1));
    device.cores = count_of(statement.int64(2));
    device.compute_major = count_of(statement.int64(3));
    device.compute_minor = count_of(statement.int64(4));
    device.memory_bytes = bytes_of(statement.int64(5));
    device.memory_bytes_per_second = bytes_of(statement.int64(6));
    device.max_clock_hz = count_of<std::int64_t>(statement.int64(7));
    any = true;
  }
  return any;
}

bool load_early(Context& context) {
  std::vector<std::string> columns = context.db.columns_of("TARGET_INFO_CUDA_GPU");
  if (columns.empty()) return false;
  std::string list;
  // The first name that the table has is used; the names changed during 2020 and 2021.
  for (std::initializer_list<std::string_view> names :
       {std::initializer_list<std::string_view>{"deviceId", "id", "cudaId"},
        {"name"},
        {"numMultiprocessors", "smCount"},
        {"computeCapabilityMajor", "computeMajor"},
        {"computeCapabilityMinor", "computeMinor"},
        {"globalMemorySize", "totalMemory"},
        {"globalMemoryBandwidth", "memoryBandwidth"},
        {"clockRate"}}) {
    std::string chosen = "0";
    for (std::string_view name : names) {
      if (chosen == "0" && std::find(columns.begin(), columns.end(), name) != columns.end())
        chosen = fmt::format("\"{}\"", name);
    }
    list += (list.empty() ? "" : ",") + chosen;
  }
  return load_query(context, fmt::format("SELECT {} FROM TARGET_INFO_CUDA_GPU", list));
}

/// Reads the GPUs from {"Gpus":[{"Id":0,"Name":"…","SmCount":…}]}; 64-bit numbers are written as
/// text.
bool load_system_info(Context& context) {
  std::vector<std::string> columns = context.db.columns_of("TARGET_INFO_SYSTEM_ENV");
  for (std::string_view needed : {"name", "value"}) {
    if (std::find(columns.begin(), columns.end(), needed) == columns.end()) return false;
  }
  return load_query(
      context,
      "SELECT CAST(json_extract(g.value,'$.Id') AS INTEGER), json_extract(g.value,'$.Name'), "
      "json_extract(g.value,'$.SmCount'), json_extract(g.value,'$.ComputeMajor'), "
      "json_extract(g.value,'$.ComputeMinor'), "
      "CAST(json_extract(g.value,'$.TotalMemory') AS INTEGER), "
      "CAST(json_extract(g.value,'$.MemoryBandwidth') AS INTEGER), "
      "CAST(json_extract(g.value,'$.ClockRate') AS INTEGER) "
      "FROM (SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name='GpuInfo' AND json_valid(value) "
      "LIMIT 1) e, json_each(e.value,'$.Gpus') g WHERE g.type='object'");
}

}  // namespace

void load_gpus(Context& context) {
  load_current(context) || load_early(context) || load_system_info(context);
  using Use = tables::CudaDevice;
  sqlite::Select<Use, &Use::Row::gpu_id, &Use::Row::cuda_id, &Use::Row::pid,
                 &Use::Row::multiprocessors>::run(context.db, [&](std::int64_t,
                                                                  const Use::Row& row) {
    context.gpu_of_process[{static_cast<std::int32_t>(row.pid), row.cuda_id}] = row.gpu_id;
    Device& device = gpu(context, row.gpu_id);
    if (device.cores == 0) device.cores = count_of(row.multiprocessors.value_or(0));
  });
}

DeviceId Context::cuda_device(ProcessId process, std::int64_t cuda_id) {
  auto found = gpu_of_process.find({trace.processes[process.value].pid, cuda_id});
  return device(DeviceType::kCuda, process,
                found == gpu_of_process.end() ? cuda_id : found->second);
}

}  // namespace headway::trace::load_detail
