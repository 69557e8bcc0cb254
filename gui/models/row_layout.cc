// SPDX-License-Identifier: MIT
#include "gui/models/row_layout.h"

#include <algorithm>

namespace headway::gui {

RowLayout::RowLayout(const TimelineModel& model, RowMetrics metrics)
    : model_(&model), metrics_(metrics) {
  for (const Row& row : model.rows) folded_.push_back(row.starts_folded);
  arrange();
}

void RowLayout::adopt(const TimelineModel& model, const std::vector<RowId>& matches) {
  std::vector<bool> before = std::move(folded_);
  model_ = &model;
  folded_.clear();
  for (std::size_t i = 0; i < model.rows.size(); ++i)
    folded_.push_back(matches[i].valid() ? before[matches[i].value] : model.rows[i].starts_folded);
  arrange();
}

void RowLayout::set_metrics(RowMetrics metrics) {
  metrics_ = metrics;
  arrange();
}

void RowLayout::set_folded(RowId row, bool folded) {
  folded_[row.value] = folded;
  arrange();
}

void RowLayout::fold_all(bool folded) {
  for (std::size_t i = 0; i < folded_.size(); ++i)
    folded_[i] = folded && model_->rows[i].can_fold();
  arrange();
}

void RowLayout::reveal(RowId row, std::uint32_t lane) {
  bool changed = false;
  auto unfold = [&](RowId id) {
    changed = changed || folded_[id.value];
    folded_[id.value] = false;
  };
  if (lane > 0) unfold(row);
  for (RowId id = model_->row(row).parent; id.valid(); id = model_->row(id).parent) unfold(id);
  if (changed) arrange();
}

void RowLayout::arrange() {
  shown_.clear();
  height_ = 0;
  if (!model_) return;
  for (std::size_t i = 0; i < model_->rows.size(); ++i) {
    const Row& row = model_->rows[i];
    Shown shown{RowId::from(i), height_, metrics_.heading, 0};
    if (row.kind == RowKind::kCounter) {
      shown.height = metrics_.counter;
    } else if (!row.lanes.empty()) {
      shown.lanes = folded_[i] ? 1 : static_cast<std::uint32_t>(row.lanes.size());
      shown.height = static_cast<int>(shown.lanes) * metrics_.lane;
    }
    shown_.push_back(shown);
    height_ += shown.height + metrics_.gap;
    if (folded_[i]) i += row.descendants;
  }
}

std::optional<std::size_t> RowLayout::index_at(std::int64_t y) const {
  if (y < 0 || y >= height_) return std::nullopt;
  auto after = std::upper_bound(shown_.begin(), shown_.end(), y,
                                [](std::int64_t at, const Shown& shown) { return at < shown.y; });
  return static_cast<std::size_t>(after - shown_.begin()) - 1;
}

std::optional<std::size_t> RowLayout::index_of(RowId row) const {
  auto after = std::upper_bound(shown_.begin(), shown_.end(), row,
                                [](RowId id, const Shown& shown) { return id < shown.row; });
  if (after == shown_.begin()) return std::nullopt;
  return static_cast<std::size_t>(after - shown_.begin()) - 1;
}

std::uint32_t RowLayout::lane_at(const Shown& shown, std::int64_t y) const {
  if (shown.lanes == 0) return 0;
  std::int64_t lane = (y - shown.y) / std::max(1, metrics_.lane);
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(lane, 0, shown.lanes - 1));
}

}  // namespace headway::gui
