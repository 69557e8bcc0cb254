// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyzer/whatif/fix.h"
#include "analyzer/whatif/usual_methods.h"

namespace headway::analyzer {

/// A fix with its predicted gain, or the reason why it does not apply.
struct FixPrediction {
  const Fix* fix = nullptr;
  bool applies = false;
  std::string text;     ///< what was changed, or why nothing was
  std::string setting;  ///< headway-train's setting for this change
  Prediction prediction;
  std::optional<UsualMethods> usual;  ///< on demand
};

/// An element of the order in which fixes gain most together.
struct Combination {
  const Fix* fix = nullptr;  ///< the added fix
  Prediction together;       ///< with this fix and all before it
};

/// The gain if a time class or an op takes a tenth less time.
struct Elasticity {
  TimeClass time_class = TimeClass::kUnknown;
  OpId op{0};          ///< the op, if it is about an op; else 0
  DurationNs on_path;  ///< per step, on the critical path of the recorded run
  DurationNs gain;     ///< per step, when it takes a tenth less
};

/// Everything that `headway whatif` prints.
struct WhatIf {
  std::string missing;  ///< why nothing can be predicted; empty when it can
  Baseline baseline;
  std::vector<FixPrediction> fixes;  ///< by gain; those that do not apply last
  std::vector<Combination> best;     ///< while another fix gains 1 % of the step or more
  std::vector<Elasticity> classes;   ///< by gain; classes with time on the path
  std::vector<Elasticity> ops;       ///< by gain, at most 20
};

/// Predicts all fixes, or those in `chosen`. `best` has no ceilings. With `compare`, each
/// prediction also has the answers of the usual methods.
WhatIf what_if(const Predictor& predictor, std::span<const Fix* const> chosen = all_fixes(),
               bool compare = false);

/// A scaling by the user: "class:comm_transfer=0.5", "op:layer1.conv1=0.9", "kernel:*gemm*=0.5",
/// "call:cudaMalloc=0", "range:load*=0.5". Throws Error(kUsage) that lists what there is.
Scenario parse_scaling(const Predictor& predictor, std::string_view text);

std::string render_text(const WhatIf& what_if, const Predictor& predictor);
std::string render_json(const WhatIf& what_if, const Predictor& predictor);
/// Renders the prediction of one scenario. `text`: what it is based on; may be empty.
std::string render_scaling(const Prediction& prediction, std::string_view text,
                           const Predictor& predictor, bool json);

}  // namespace headway::analyzer
