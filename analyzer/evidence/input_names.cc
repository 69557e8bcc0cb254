// SPDX-License-Identifier: MIT
#include "analyzer/evidence/input_names.h"

#include "analyzer/partition/input_wait.h"

namespace headway::analyzer {
namespace {

template <class Accept>
bool any_name(const trace::Trace& trace, Accept accept) {
  for (std::uint32_t i = 0; i < trace.strings.size(); ++i) {
    if (accept(trace.strings[trace::StringId{i}])) return true;
  }
  return false;
}

}  // namespace

bool names_an_input_wait(const trace::Trace& trace) {
  return any_name(trace, means_input_wait);
}

bool loads_where_it_waits(std::string_view name) {
  return name.find("_SingleProcessDataLoaderIter") != std::string_view::npos &&
         name.find("__next__") != std::string_view::npos;
}

bool loads_on_training_thread(const trace::Trace& trace) {
  return any_name(trace, loads_where_it_waits);
}

}  // namespace headway::analyzer
