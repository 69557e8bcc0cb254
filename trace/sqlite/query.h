// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace headway::trace::sqlite {

/// A value of a result; monostate is NULL, a blob is its hexadecimal literal (X'00ff').
using QueryValue = std::variant<std::monostate, std::string, std::int64_t, double>;

struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::vector<QueryValue>> rows;
  bool cut = false;  ///< there are more rows than QueryLimits::rows
};

/// When to stop a query.
struct QueryLimits {
  double seconds = 60;                           ///< of the whole query
  std::size_t rows = SIZE_MAX;                   ///< further rows are not read (QueryResult::cut)
  const std::atomic<bool>* cancelled = nullptr;  ///< polled while the query runs; may be null
};

/// Runs one SELECT (or WITH, VALUES, EXPLAIN, a PRAGMA that only describes the schema) that a user
/// wrote. The file is opened read-only, and an authorizer refuses everything that is not reading:
/// writes, ATTACH, PRAGMAs that set something, loading extensions. Throws Error(kUsage) for SQL that
/// is wrong, refused, cancelled or takes too long, and Error(kBadInput) for a file that is not an
/// SQLite file.
QueryResult query(const std::filesystem::path& path, const std::string& sql,
                  const QueryLimits& limits);

/// A table or view of a file.
struct TableInfo {
  std::string name;
  std::vector<std::pair<std::string, std::string>> columns;  ///< name and declared type
};
/// Tables and views in the order of the file. Throws Error(kBadInput) as `query` does.
std::vector<TableInfo> list_tables(const std::filesystem::path& path);

}  // namespace headway::trace::sqlite
