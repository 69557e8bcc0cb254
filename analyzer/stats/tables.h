// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "analyzer/analysis.h"
#include "analyzer/stats/selection.h"
#include "analyzer/stats/table.h"

namespace headway::analyzer {

/// Makes a table. Tables that take no Selection are over the whole trace, whatever the filter; their
/// note then says so.
class TableMaker {
 public:
  using Filtered = Table (*)(const trace::Trace&, const Analysis&, const Selection&);
  using Whole = Table (*)(const trace::Trace&, const Analysis&);
  constexpr TableMaker(Filtered make) : filtered_(make) {}
  constexpr TableMaker(Whole make) : whole_(make) {}
  Table operator()(const trace::Trace& trace, const Analysis& analysis,
                   const Selection& selection = {}) const;

 private:
  Filtered filtered_ = nullptr;
  Whole whole_ = nullptr;
};

/// The tables of the whole trace, made in parallel, in the order of `makers`.
std::vector<Table> make_tables(const trace::Trace&, const Analysis&,
                               std::initializer_list<TableMaker> makers);

/// A table that `headway stats` can print; reports use some of them. Declared in one list
/// (tables.cc).
struct TableDeclaration {
  std::string_view id;
  std::string_view doc;  ///< one sentence
  TableMaker make;
  std::string_view over = {};  ///< the scope of its figures and the base of its shares
};
std::span<const TableDeclaration> table_declarations();

Table partition_table(const trace::Trace&, const Analysis&, const Selection& = {});
Table step_table(const trace::Trace&, const Analysis&, const Selection& = {});
Table op_type_table(const trace::Trace&, const Analysis&, const Selection& = {});
Table op_table(const trace::Trace&, const Analysis&, const Selection& = {});
Table layer_table(const trace::Trace&, const Analysis&, const Selection& = {});
Table kernel_table(const trace::Trace&, const Analysis&, const Selection& = {});
Table tensor_core_table(const trace::Trace&, const Analysis&, const Selection& = {});
Table kernel_family_table(const trace::Trace&, const Analysis&, const Selection& = {});
Table launch_table(const trace::Trace&, const Analysis&, const Selection& = {});
Table copy_table(const trace::Trace&, const Analysis&, const Selection& = {});
Table copy_size_table(const trace::Trace&, const Analysis&, const Selection& = {});
Table collective_sum_table(const trace::Trace&, const Analysis&, const Selection& = {});
Table call_table(const trace::Trace&, const Analysis&, const Selection& = {});
Table range_table(const trace::Trace&, const Analysis&, const Selection& = {});
Table range_device_table(const trace::Trace&, const Analysis&, const Selection& = {});
Table loader_table(const trace::Trace&, const Analysis&, const Selection& = {});
Table io_table(const trace::Trace&, const Analysis&);
Table io_file_table(const trace::Trace&, const Analysis&);
Table io_thread_table(const trace::Trace&, const Analysis&);
Table device_table(const trace::Trace&, const Analysis&);
Table process_table(const trace::Trace&, const Analysis&);
Table host_function_table(const trace::Trace&, const Analysis&);
Table counter_table(const trace::Trace&, const Analysis&);
Table finding_table(const trace::Trace&, const Analysis&);
Table doubt_table(const trace::Trace&, const Analysis&);
Table loss_table(const trace::Trace&, const Analysis&);
Table rank_table(const trace::Trace&, const Analysis&);
Table collective_table(const trace::Trace&, const Analysis&);
Table critical_path_table(const trace::Trace&, const Analysis&);
Table path_kind_table(const trace::Trace&, const Analysis&);
Table slack_table(const trace::Trace&, const Analysis&);

}  // namespace headway::analyzer
