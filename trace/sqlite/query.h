// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace headway::trace::sqlite {

/// A value of a result; monostate is NULL, a blob is its hexadecimal literal (X'00ff').
using QueryValue = std::variant<std::monostate, std::string, std::int64_t, double>;

struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::vector<QueryValue>> rows;
};

/// Runs one SELECT (or WITH, VALUES, EXPLAIN, a PRAGMA that only describes the schema) that a user
/// wrote. The file is opened read-only, and an authorizer refuses everything that is not reading:
/// writes, ATTACH, PRAGMAs that set something, loading extensions. Throws Error(kUsage) for SQL that
/// is wrong, refused or longer than `seconds`, and Error(kBadInput) for a file that is no SQLite file.
QueryResult query(const std::filesystem::path& path, const std::string& sql, double seconds);

}  // namespace headway::trace::sqlite
