// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/replay/host_time.h"
#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// The same for the predictor's program.
template <class Visit>
void for_each_host_time(const Predictor& predictor, Visit visit) {
  for_each_host_time(predictor.program(), visit);
}

}  // namespace headway::analyzer
