// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "analyzer/stats/tables.h"

namespace headway::analyzer {

/// Tables with the names, columns, units and order of Nsight Systems' reports, so that programs
/// that read `nsys stats` also read these. Columns have the same text as id and as label.
std::span<const TableDeclaration> nsys_table_declarations();

/// "cuda_gpu_kern_sum" for "gpukernsum", the name before 2023.1; other names unchanged.
std::string_view nsys_table_name(std::string_view name);

/// Numbers with the digits that Nsight Systems prints; with `as_text` as texts, which keep
/// trailing zeros, for CSV and for people.
void round_as_nsys(Table& table, bool as_text);

}  // namespace headway::analyzer
