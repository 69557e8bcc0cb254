// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "trace/trace.h"

/// What can be known of the input pipeline from names alone. One pass over the distinct names.
namespace headway::analyzer {

/// True when some range's name is one that loaders are known to wait under.
bool names_an_input_wait(const trace::Trace& trace);
/// Whether a wait of this name makes the batch itself: "_SingleProcessDataLoaderIter".
bool loads_where_it_waits(std::string_view name);
/// True when some range has such a name.
bool loads_on_training_thread(const trace::Trace& trace);

}  // namespace headway::analyzer
