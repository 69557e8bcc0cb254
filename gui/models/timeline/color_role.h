// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "analyzer/attribution/attribution.h"
#include "analyzer/model/time_class.h"
#include "trace/trace.h"

namespace headway::gui {

/// The meaning of a colour; the theme maps it to a colour. The first roles are the time classes,
/// with the same values, so that an op on a stream, its part of the partition band and its share in
/// a chart have one colour.
enum class ColorRole : std::uint8_t {
  kFirst = static_cast<std::uint8_t>(analyzer::kTimeClassCount),
  kStep = kFirst,
  kStepDropped,  ///< a step that figures leave out (see Steps)
  kForward,
  kBackward,
  kOtherPhase,
  kLaunchCall,
  kOtherCall,
  kMark,
  kName0,  ///< ranges without a known meaning are coloured by name
  kCount_ = kName0 + 8,
};
inline constexpr std::size_t kColorRoleCount = static_cast<std::size_t>(ColorRole::kCount_);

constexpr ColorRole role_of(analyzer::TimeClass time_class) {
  return static_cast<ColorRole>(time_class);
}
ColorRole role_of(const trace::Trace& trace, trace::RangeId range);
ColorRole role_of(trace::DeviceCallKind call);
/// The time class of the op when nothing else runs.
ColorRole role_of(const trace::Trace& trace, const analyzer::Attribution& attribution,
                  trace::DeviceOpId op);

}  // namespace headway::gui
