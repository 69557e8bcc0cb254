// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace headway::analyzer {

/// Something the reader must know before trusting the figures. Printed first.
struct Doubt {
  std::string severity;  ///< "loss", "doubt", "info"
  std::string text;
};

}  // namespace headway::analyzer
