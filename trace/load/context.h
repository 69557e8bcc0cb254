// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <mutex>
#include <string>

#include "trace/load/assembly.h"
#include "trace/sqlite/database.h"
#include "trace/sqlite/select.h"

/// What the readers of an SQLite trace share. Each of them fills one part of the Trace.
namespace headway::trace::load_detail {

struct Context : Assembly {
  Context(std::filesystem::path file, int thread_count, Trace& target, sqlite::Database& source)
      : Assembly(target, thread_count), path(std::move(file)), db(source) {}

  std::filesystem::path path;
  sqlite::Database& db;

  // id in the file -> in memory
  std::vector<StringId> string_ids;  ///< dense part of StringIds
  std::unordered_map<std::int64_t, StringId> sparse_string_ids;
  std::map<std::int64_t, DomainId> domain_ids;

  /// Thread-safe, unlike the rest: only looks up. An unknown id is counted in `part_losses`.
  StringId string(std::int64_t id, LossCounts& part_losses) const;
  StringId string(std::int64_t id) { return string(id, losses); }
};

void load_strings(Context& context);
void load_inventory(
    Context& context);  ///< meta, processes, threads, devices, streams, settings, graph, losses
void load_ranges(Context& context);
void load_device_ops(Context& context);
void load_calls(Context& context);
void load_counters(Context& context);

}  // namespace headway::trace::load_detail
