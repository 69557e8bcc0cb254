// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

struct Model {
  Graph graph;
  ValueId images;   ///< [N,H,W,C] float
  ValueId labels;   ///< [N] int32
  ValueId boxes;    ///< float [...,4], for models that find boxes; else none
  ValueId figures;  ///< [3]: mean loss, correct rows, counted rows
};

}  // namespace headway::trainer
