// SPDX-License-Identifier: MIT
#include "gui/models/search/hit_marks.h"

#include <algorithm>

namespace headway::gui {

HitMarks::HitMarks(const TimelineModel& model, const Search& search,
                   const std::atomic<bool>* cancelled)
    : model_(&model), has_hits_(model.rows.size(), false), parts_(kParts, 0) {
  const double length = std::max(1.0, static_cast<double>(model.bounds.length().ns));
  auto part_of = [&](TimeNs t) {
    double share = static_cast<double>((t - model.bounds.begin).ns) / length;
    return static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * (kParts - 1));
  };
  for (std::size_t r = 0; r < model.rows.size(); ++r) {
    const Row& row = model.rows[r];
    first_lane_.push_back(static_cast<std::uint32_t>(lanes_.size()));
    for (const Lane& lane : row.lanes) {
      BitRank& hits = lanes_.emplace_back(lane.events());
      std::span<const std::uint32_t> rows =
          lane.rows(0, static_cast<std::uint32_t>(lane.entries()));
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (cancelled && i % 4096 == 0 && cancelled->load()) return;
        Target target = model.target_of(RowId::from(r), rows[i]);
        if (target.kind != Target::Kind::kEvent || !search.matches(target.event)) continue;
        hits.set(i);
        has_hits_[r] = true;
        if (!row.is_derived()) ++parts_[part_of(model.interval_of(target).begin)];
      }
      hits.finish();
    }
  }
}

bool HitMarks::any(RowId row, std::uint32_t lane, const LaneItem& item) const {
  if (row.value >= first_lane_.size() || !has_hits_[row.value]) return false;
  const std::size_t index = first_lane_[row.value] + lane;
  if (index >= lanes_.size()) return false;
  const std::uint32_t first = model_->row(row).lanes[lane].first_event(item.entry);
  return lanes_[index].rank(first + item.count) > lanes_[index].rank(first);
}

std::size_t HitMarks::in_row(RowId row) const {
  if (row.value >= first_lane_.size()) return 0;
  std::size_t count = 0;
  const std::size_t end = first_lane_[row.value] + model_->row(row).lanes.size();
  for (std::size_t i = first_lane_[row.value]; i < std::min(end, lanes_.size()); ++i)
    count += lanes_[i].count();
  return count;
}

}  // namespace headway::gui
