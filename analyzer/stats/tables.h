// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "analyzer/analysis.h"
#include "analyzer/stats/table.h"

namespace headway::analyzer {

/// A table that `headway stats` can print; reports use some of them. Declared in one list
/// (tables.cc).
struct TableDeclaration {
  std::string_view id;
  std::string_view doc;  ///< one sentence
  Table (*make)(const trace::Trace& trace, const Analysis& analysis);
};
std::span<const TableDeclaration> table_declarations();

Table partition_table(const trace::Trace& trace, const Analysis& analysis);
Table step_table(const trace::Trace& trace, const Analysis& analysis);
Table op_type_table(const trace::Trace& trace, const Analysis& analysis);
Table op_table(const trace::Trace& trace, const Analysis& analysis);
Table kernel_table(const trace::Trace& trace, const Analysis& analysis);
Table kernel_family_table(const trace::Trace& trace, const Analysis& analysis);
Table copy_table(const trace::Trace& trace, const Analysis& analysis);
Table call_table(const trace::Trace& trace, const Analysis& analysis);
Table range_table(const trace::Trace& trace, const Analysis& analysis);
Table loader_table(const trace::Trace& trace, const Analysis& analysis);
Table device_table(const trace::Trace& trace, const Analysis& analysis);
Table rank_table(const trace::Trace& trace, const Analysis& analysis);
Table collective_table(const trace::Trace& trace, const Analysis& analysis);
Table process_table(const trace::Trace& trace, const Analysis& analysis);
Table critical_path_table(const trace::Trace& trace, const Analysis& analysis);
Table path_kind_table(const trace::Trace& trace, const Analysis& analysis);
Table slack_table(const trace::Trace& trace, const Analysis& analysis);
Table counter_table(const trace::Trace& trace, const Analysis& analysis);
Table loss_table(const trace::Trace& trace, const Analysis& analysis);

}  // namespace headway::analyzer
