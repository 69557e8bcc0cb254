// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "analyzer/whatif/transfers.h"

namespace headway::analyzer {

/// The time of a collective inside a node.
struct NodeLinks {
  TransferLine line;        ///< by the bytes of the whole message
  double bytes_per_ns = 0;  ///< rate at which a rank sends; 0: not known
  std::string text;         ///< "160 GB/s, 70 % of NVLink 4"; empty: not known
  double start = 0;  ///< ns of the line's fixed part that are assumed for a start; 0: measured
};

/// The links for `kind` ("allreduce", "reducescatter") among `per_node` ranks on devices like
/// `device`: as calibrated, or as the trainer emulates them, else from the table of links.
NodeLinks node_links(const Predictor& predictor, std::string_view kind, int per_node,
                     const trace::Device& device);

}  // namespace headway::analyzer
