// SPDX-License-Identifier: MIT
#pragma once

#include "trace/trace.h"

/// What can be known of the input pipeline from names alone. One pass over the distinct names.
namespace headway::analyzer {

/// True when some range's name is one that loaders are known to wait under.
bool names_an_input_wait(const trace::Trace& trace);
/// True when such a name says that there are no workers ("_SingleProcessDataLoaderIter").
bool loads_on_training_thread(const trace::Trace& trace);

}  // namespace headway::analyzer
