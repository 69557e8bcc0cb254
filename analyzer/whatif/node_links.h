// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "analyzer/whatif/transfers.h"

namespace headway::analyzer {

/// A reduce-scatter or an all-gather of a whole message inside a node.
struct NodeLinks {
  TransferLine line;
  std::string text;  ///< "160 GB/s, 70 % of NVLink 4"; empty: not known
};

/// Among `per_node` ranks on devices like this one: as calibrated, else by the table of links.
NodeLinks node_links(const Predictor& predictor, int per_node, const trace::Device& device);

}  // namespace headway::analyzer
