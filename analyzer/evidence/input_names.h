// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "trace/trace.h"

/// What can be known of the input pipeline from names alone. One pass over the distinct names.
namespace headway::analyzer {

/// True if a name in the trace is one under which loaders are known to wait.
bool names_an_input_wait(const trace::Trace& trace);
/// True if a wait of this name makes the batch itself: "_SingleProcessDataLoaderIter".
bool loads_where_it_waits(std::string_view name);
/// True if the trace has such a name.
bool loads_on_training_thread(const trace::Trace& trace);

}  // namespace headway::analyzer
