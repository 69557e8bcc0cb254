// SPDX-License-Identifier: MIT
#include "analyzer/evidence/padding.h"

#include <charconv>

#include "common/nvtx_conventions.h"

namespace headway::analyzer {

std::optional<double> padding_of_batches(const trace::Trace& trace) {
  const std::string_view said = trace.setting(conventions::kPaddingSetting);
  double share = 0;
  const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), share);
  const bool whole = error == std::errc{} && end == said.data() + said.size();
  if (!whole || !(share >= 0 && share < 1)) return std::nullopt;
  return share;
}

}  // namespace headway::analyzer
