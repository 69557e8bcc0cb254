// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "analyzer/analysis.h"
#include "analyzer/ranks/rank_summary.h"

namespace headway::analyzer {

/// Who the rank is and where its steps went, without its communication, findings and doubts.
RankSummary outline(const trace::Trace& trace, const Analysis& analysis, RankIdentity identity);
/// All of it.
RankSummary summarise(const trace::Trace& trace, const Analysis& analysis, RankIdentity identity);

/// For sending to another process of the same run.
std::string to_bytes(RankSummary& summary);
RankSummary rank_summary_from(std::string_view bytes);

}  // namespace headway::analyzer
