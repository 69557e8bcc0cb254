// SPDX-License-Identifier: MIT
#pragma once

#include "cli/tune/runs.h"

namespace headway::analyzer {
struct Fix;
class Predictor;
}  // namespace headway::analyzer

namespace headway::tune {

/// What the fix would gain in the predictor's run.
Forecast forecast_of(const analyzer::Fix& fix, const analyzer::Predictor& predictor);

}  // namespace headway::tune
