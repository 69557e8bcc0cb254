// SPDX-License-Identifier: MIT
#pragma once

#include "cli/tune/runs.h"

namespace headway::analyzer {
struct Fix;
class Predictor;
}  // namespace headway::analyzer

namespace headway::tune {

/// The gain of the fix that the predictor computes for its run.
Forecast forecast_of(const analyzer::Fix& fix, const analyzer::Predictor& predictor);

}  // namespace headway::tune
