// SPDX-License-Identifier: MIT
#include "reference_trainer/graph/unit_name.h"

namespace headway::trainer {

std::string unit_of_name(const std::string& name) {
  // "block3" and "layer1" hold several ops; "embedding" and "head" are single ops.
  const std::size_t dot = name.find('.');
  const bool numbered =
      dot != std::string::npos && dot > 0 && name[dot - 1] >= '0' && name[dot - 1] <= '9';
  return numbered ? name.substr(0, dot) : std::string();
}

}  // namespace headway::trainer
