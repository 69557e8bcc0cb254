// SPDX-License-Identifier: MIT
#include "gui/models/timeline/measure.h"

#include <doctest/doctest.h>

namespace headway::gui {

TEST_CASE("the first mark, the second, then the first again") {
  Measure measure;
  CHECK(!measure);
  CHECK(!measure.span());
  CHECK(!measure.span(TimeNs{5}));
  measure.mark({100});
  CHECK(measure.span(TimeNs{40}) == Interval{{40}, {100}});
  CHECK(!measure.span());
  measure.mark({30});
  CHECK(measure.span() == Interval{{30}, {100}});
  CHECK(measure.span(TimeNs{900}) == Interval{{30}, {100}});  // the pointer has no say any more
  measure.mark({7});
  CHECK(measure.first() == TimeNs{7});
  CHECK(!measure.second());
  measure.clear();
  CHECK(!measure);
}

TEST_CASE("a mark snaps to the nearest edge of an event in reach, else stays") {
  Lane lane;
  lane.append({{1000}, {2000}}, 0, ColorRole::kMark);
  lane.append({{2004}, {3000}}, 1, ColorRole::kMark);
  lane.append({{3000}, {3000}}, 2, ColorRole::kMark);
  lane.finish();
  TimeMapping mapping({{0}, {5000}}, 5000);  // a pixel is a nanosecond
  CHECK(snapped_to_edge(lane, mapping, 1005, 8) == TimeNs{1000});
  CHECK(snapped_to_edge(lane, mapping, 995, 8) == TimeNs{1000});
  CHECK(snapped_to_edge(lane, mapping, 1999, 8) == TimeNs{2000});
  CHECK(snapped_to_edge(lane, mapping, 2003, 8) == TimeNs{2004});
  CHECK(snapped_to_edge(lane, mapping, 3006, 8) == TimeNs{3000});
  CHECK(snapped_to_edge(lane, mapping, 1500, 8) == TimeNs{1500});
  CHECK(snapped_to_edge(lane, mapping, 10, 8) == TimeNs{10});
  CHECK(snapped_to_edge(lane, mapping, 4900, 8) == TimeNs{4900});
  Lane empty;
  empty.finish();
  CHECK(snapped_to_edge(empty, mapping, 77, 8) == TimeNs{77});
}

}  // namespace headway::gui
