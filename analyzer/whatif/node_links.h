// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "analyzer/whatif/transfers.h"

namespace headway::analyzer {

/// A collective of a whole message inside a node.
struct NodeLinks {
  TransferLine line;
  double bytes_per_ns = 0;  ///< that a rank sends on; 0: not known
  std::string text;         ///< "160 GB/s, 70 % of NVLink 4"; empty: not known
};

/// `kind` ("allreduce", "reducescatter") among `per_node` ranks on devices like this one: as calibrated, or as a run of
/// the trainer emulates it, else by the table of links.
NodeLinks node_links(const Predictor& predictor, std::string_view kind, int per_node,
                     const trace::Device& device);

}  // namespace headway::analyzer
