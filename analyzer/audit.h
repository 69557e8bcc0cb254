// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/model/event_ref.h"
#include "common/time.h"
#include "trace/loss_counters.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// What may be wrong with a trace that was read without errors: rows that contradict each other.
/// (Rows that a reader drops or repairs have loss counters.) Declared once, in audit.cc; ids are stable.
enum class Audit : std::uint8_t {
  kOpWithoutDuration,
  kOverlapOnStream,
  kOpFarTooLong,
  kCrossingRanges,
  kCallsCross,
  kSharedRank,
  kCollectiveWithoutOp,
  kCounterBackwards,
  kCount_,  ///< number of checks, not one itself
};

struct AuditCheck {
  Audit check;
  std::string_view id;
  trace::Severity severity;
  std::string_view text;  ///< what was found and what is done about it, one sentence or two
};
std::span<const AuditCheck> audit_checks();
const AuditCheck& audit_check(Audit check);

struct AuditResult {
  Audit check = Audit::kCount_;
  std::int64_t count = 0;
  DurationNs time;  ///< affected, where the check measures it
  EventRef first;   ///< where to look; none when no event is concerned
};

/// Runs all checks; returns those that found something, in the order of their declaration. One pass
/// over each table.
std::vector<AuditResult> audit(const trace::Trace& trace);

}  // namespace headway::analyzer
