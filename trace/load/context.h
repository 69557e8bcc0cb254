// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <mutex>
#include <string>

#include "trace/load/assembly.h"
#include "trace/load/details.h"
#include "trace/load/nccl.h"
#include "trace/sqlite/database.h"
#include "trace/sqlite/select.h"

/// State that the readers of an SQLite trace share. Each reader fills one part of the Trace.
namespace headway::trace::load_detail {

struct Context : Assembly {
  Context(std::filesystem::path file, int thread_count, Trace& target, sqlite::Database& source)
      : Assembly(target, thread_count), path(std::move(file)), db(source) {}

  std::filesystem::path path;
  sqlite::Database& db;

  // id in the file -> in memory
  std::vector<StringId> string_ids;  ///< dense part of StringIds
  std::unordered_map<std::int64_t, StringId> sparse_string_ids;
  StringId unknown_string;  ///< "?": used for ids that the file does not list
  std::map<std::pair<std::int64_t, std::int64_t>, DomainId> domain_ids;  ///< globalPid, domainId
  RowMaps row_maps;
  std::unordered_map<std::int64_t, NcclPayload> nccl_payloads;  ///< by rowid in NVTX_EVENTS
  std::map<std::pair<std::int32_t, std::int64_t>, std::int64_t> gpu_of_process;  ///< pid, cudaId
  std::int64_t only_pid =
      0;  ///< globalPid of the only process that called CUDA; 0: none or several

  /// Thread-safe, unlike the rest: it only looks up. Returns an id of `trace.strings`; an id that
  /// the file does not list becomes "?" and is counted in `part_losses`.
  StringId string(std::int64_t id, LossCounts& part_losses) const;
  StringId string(std::int64_t id) { return string(id, losses); }
  /// The process of a device op: exports from before 2021 do not say it.
  std::int64_t pid_or_only(const std::optional<std::int64_t>& global_pid) const {
    return global_pid.value_or(only_pid);
  }
  /// The GPU of a CUDA device id in a process.
  DeviceId cuda_device(ProcessId process, std::int64_t cuda_id);
  /// An SQL condition for the rows of an event table that touch `stretch`; empty: all rows.
  std::string in_stretch() const;
  /// The rowid from which an event table that is still being recorded is read for `stretch`;
  /// otherwise the whole table is read. Found by bisection: a recorder writes events about in the
  /// order in which they end. `time`: SQL for the end of a row's event.
  std::int64_t first_row(std::string_view table,
                         std::string_view time = "coalesce(\"end\",start)") const;
  RowMap& row_map(RowTable table) { return row_maps[static_cast<std::size_t>(table)]; }
};

void load_strings(Context& context);
void load_inventory(
    Context& context);  ///< meta, processes, threads, devices, streams, settings, graph, losses
void load_gpus(Context& context);
void load_ranges(Context& context);
void load_device_ops(Context& context);
void load_calls(Context& context);
/// Sort the events that the functions above have read. Each touches only its own kind of event.
void sort_ranges(Context& context);  ///< and nests them
void sort_device_ops(Context& context);
void sort_calls(Context& context);
void load_synchronization(Context& context);  ///< completes the calls; after the device ops
void load_overheads(Context& context);
void load_counters(Context& context);
void load_memory(Context& context);  ///< counters of allocated device memory; after the devices
void load_io(Context& context);
void load_nccl(Context& context);  ///< after link(): collectives and ranks from NCCL's evidence

}  // namespace headway::trace::load_detail
