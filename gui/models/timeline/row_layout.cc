// SPDX-License-Identifier: MIT
#include "gui/models/timeline/row_layout.h"

#include <algorithm>

#include "gui/models/text/display_text.h"

namespace headway::gui {

namespace {

constexpr std::uint8_t kShown = 1;
constexpr std::uint8_t kLeadsToOne = 2;

}  // namespace

RowLayout::RowLayout(const TimelineModel& model, RowMetrics metrics)
    : model_(&model),
      metrics_(metrics),
      hidden_(model.rows.size(), false),
      kept_(model.rows.size(), false),
      sequence_(model.rows.size()) {
  for (const Row& row : model.rows) folded_.push_back(row.starts_folded);
  for (std::size_t i = 0; i < sequence_.size(); ++i) sequence_[i] = RowId::from(i);
  place_companions();
  arrange();
}

/// Moves companions from their place in the model to directly behind the row that they belong to.
void RowLayout::place_companions() {
  for (std::size_t i = model_->rows.size(); i-- > 0;) {
    const RowId beside = model_->rows[i].companion_of;
    if (!beside.valid()) continue;
    auto from = sequence_.begin() + static_cast<std::ptrdiff_t>(place_of(RowId::from(i)));
    auto to = sequence_.begin() + static_cast<std::ptrdiff_t>(place_of(beside)) + 1;
    if (from >= to) {
      std::rotate(to, from, from + 1);
    } else {
      std::rotate(from, from + 1, to);
    }
    if (is_pinned(beside) && !is_pinned(RowId::from(i)) && model_->rows[i].parent != beside)
      pinned_.insert(std::find(pinned_.begin(), pinned_.end(), beside) + 1, RowId::from(i));
  }
}

void RowLayout::adopt(const TimelineModel& model, const std::vector<RowId>& matches) {
  const RowLayout before = std::move(*this);
  *this = RowLayout(model, before.metrics_);
  filter_ = before.filter_;
  std::vector<RowId> now_of(before.folded_.size());
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (!matches[i].valid()) continue;
    now_of[matches[i].value] = RowId::from(i);
    folded_[i] = before.folded_[matches[i].value];
    hidden_[i] = before.hidden_[matches[i].value];
    kept_[i] = before.kept_[matches[i].value];
  }
  for (RowId row : before.pinned_) {
    if (now_of[row.value].valid()) pinned_.push_back(now_of[row.value]);
  }
  // Siblings keep the user's order; new rows come behind the rows that they follow in the model.
  for (auto row = before.sequence_.rbegin(); row != before.sequence_.rend(); ++row) {
    RowId moved = now_of[row->value];
    if (!moved.valid()) continue;
    for (RowId other : sequence_) {
      if (model.row(other).parent != model.row(moved).parent) continue;
      if (other != moved) move_to(moved, other, false);
      break;
    }
  }
  place_companions();
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

bool RowLayout::is_pinned(RowId row) const {
  return std::find(pinned_.begin(), pinned_.end(), row) != pinned_.end();
}

void RowLayout::set_pinned(RowId row, bool pinned) {
  std::erase(pinned_, row);
  if (pinned) pinned_.push_back(row);
  arrange();
}

std::size_t RowLayout::place_of(RowId row) const {
  return static_cast<std::size_t>(std::find(sequence_.begin(), sequence_.end(), row) -
                                  sequence_.begin());
}

/// The next shown sibling above or below.
RowId RowLayout::sibling_beside(RowId row, bool down) const {
  RowId best;
  bool passed = false;
  for (RowId other : sequence_) {
    if (other == row) {
      if (!down) return best;
      passed = true;
    } else if (model_->row(other).parent == model_->row(row).parent &&
               index_[other.value] != kNowhere && !is_pinned(other)) {
      if (passed) return other;
      best = other;
    }
  }
  return {};
}

bool RowLayout::move(RowId row, bool down) {
  auto at = std::find(pinned_.begin(), pinned_.end(), row);
  if (at != pinned_.end()) {
    if (down ? at + 1 == pinned_.end() : at == pinned_.begin()) return false;
    std::iter_swap(at, down ? at + 1 : at - 1);
    arrange();
    return true;
  }
  RowId sibling = sibling_beside(row, down);
  return sibling.valid() && move_to(row, sibling, down);
}

bool RowLayout::move_to(RowId row, RowId sibling, bool behind) {
  if (row == sibling) return false;
  auto pinned_row = std::find(pinned_.begin(), pinned_.end(), row);
  auto pinned_sibling = std::find(pinned_.begin(), pinned_.end(), sibling);
  if (pinned_row != pinned_.end() && pinned_sibling != pinned_.end()) {
    pinned_.erase(pinned_row);
    pinned_sibling = std::find(pinned_.begin(), pinned_.end(), sibling);
    pinned_.insert(behind ? pinned_sibling + 1 : pinned_sibling, row);
    arrange();
    return true;
  }
  if (pinned_row != pinned_.end() || pinned_sibling != pinned_.end()) return false;
  if (model_->row(row).parent != model_->row(sibling).parent) return false;
  auto begin = sequence_.begin();
  const std::size_t from = place_of(row);
  const std::size_t length = model_->row(row).descendants + std::size_t{1};
  std::size_t to = place_of(sibling);
  if (behind) to += model_->row(sibling).descendants + std::size_t{1};
  auto at = [&](std::size_t i) { return begin + static_cast<std::ptrdiff_t>(i); };
  if (to > from) {
    std::rotate(at(from), at(from + length), at(to));
  } else {
    std::rotate(at(to), at(from), at(from + length));
  }
  arrange();
  return true;
}

void RowLayout::hide(RowId row) {
  hidden_[row.value] = true;
  std::erase(pinned_, row);
  arrange();
}

void RowLayout::set_filter(std::string_view text) {
  filter_ = text;
  kept_.assign(kept_.size(), false);
  arrange();
}

void RowLayout::set_only(std::optional<std::vector<bool>> rows) {
  only_ = std::move(rows);
  kept_.assign(kept_.size(), false);
  arrange();
}

void RowLayout::show_all() {
  hidden_.assign(hidden_.size(), false);
  filter_.clear();
  only_.reset();
  arrange();
}

void RowLayout::reveal(RowId row, std::uint32_t lane) {
  bool changed = false;
  auto unfold = [&](RowId id) {
    changed = changed || folded_[id.value];
    folded_[id.value] = false;
  };
  auto show = [&](RowId id) {
    changed = changed || hidden_[id.value];
    hidden_[id.value] = false;
  };
  if (lane > 0) unfold(row);
  show(row);
  for (RowId id = model_->row(row).parent; id.valid(); id = model_->row(id).parent) {
    unfold(id);
    show(id);
  }
  if (is_filtered() && !(wanted_[row.value] & kShown)) {
    kept_[row.value] = true;
    changed = true;
  }
  if (changed) arrange();
}

std::vector<std::uint8_t> RowLayout::wanted() const {
  const std::size_t count = model_->rows.size();
  std::vector<std::uint8_t> wanted(count, kShown);
  if (!is_filtered()) return wanted;
  for (std::size_t i = 0; i < count; ++i) {
    const Row& row = model_->rows[i];
    bool by_name = filter_.empty() || contains_ignoring_case(row.label, filter_) ||
                   contains_ignoring_case(row.detail, filter_);
    bool fits = by_name && (!only_ || (i < only_->size() && (*only_)[i]));
    // A predicted row is shown together with its recorded row, for comparison.
    if (!fits && row.companion_of.valid() && (wanted[row.companion_of.value] & kShown)) fits = true;
    // The rows below a row with a matching name are shown too.
    if (!fits && !only_ && row.parent.valid() && (wanted[row.parent.value] & kShown)) fits = true;
    wanted[i] = fits || kept_[i] ? kShown : 0;
  }
  for (std::size_t i = count; i-- > 0;) {
    RowId parent = model_->rows[i].parent;
    if (wanted[i] && parent.valid()) wanted[parent.value] |= kLeadsToOne;
  }
  return wanted;
}

void RowLayout::add(RowId id, std::uint8_t depth, bool pinned) {
  const Row& row = model_->row(id);
  Shown shown{id, height_, metrics_.heading, 0, depth, pinned};
  if (row.kind == RowKind::kCounter) {
    shown.height = metrics_.counter;
  } else if (!row.lanes.empty()) {
    shown.lanes = folded_[id.value] ? 1 : static_cast<std::uint32_t>(row.lanes.size());
    shown.height = static_cast<int>(shown.lanes) * metrics_.lane;
  }
  index_[id.value] = static_cast<std::uint32_t>(shown_.size());
  shown_.push_back(shown);
  height_ += shown.height + metrics_.gap;
}

void RowLayout::add_tree(std::size_t at, std::size_t count, std::uint8_t depth, bool pinned) {
  for (std::size_t i = at; i < at + count; ++i) {
    const RowId id = sequence_[i];
    const Row& row = model_->row(id);
    if (done_[id.value] || hidden_[id.value] || !wanted_[id.value]) {
      i += row.descendants;
      continue;
    }
    add(id, static_cast<std::uint8_t>(row.depth - depth), pinned);
    if (pinned) done_[id.value] = true;
    bool folded = folded_[id.value] && !(is_filtered() && (wanted_[id.value] & kLeadsToOne));
    if (!folded) continue;
    for (std::size_t below = i + 1; below <= i + row.descendants; ++below) {
      std::uint32_t& index = index_[sequence_[below].value];
      if (index == kNowhere) index = index_[id.value];
      if (pinned) done_[sequence_[below].value] = true;
    }
    i += row.descendants;
  }
}

void RowLayout::arrange() {
  shown_.clear();
  height_ = 0;
  pinned_height_ = 0;
  hidden_count_ = 0;
  if (!model_) return;
  index_.assign(model_->rows.size(), kNowhere);
  done_.assign(model_->rows.size(), false);
  wanted_ = wanted();
  for (RowId row : pinned_) {
    if (!done_[row.value])
      add_tree(place_of(row), model_->row(row).descendants + std::size_t{1}, model_->row(row).depth,
               true);
  }
  pinned_height_ = height_;
  add_tree(0, sequence_.size(), 0, false);
  hidden_count_ = static_cast<std::size_t>(std::count(index_.begin(), index_.end(), kNowhere));
}

std::optional<std::size_t> RowLayout::index_at(std::int64_t y) const {
  if (y < 0 || y >= height_) return std::nullopt;
  auto after = std::upper_bound(shown_.begin(), shown_.end(), y,
                                [](std::int64_t at, const Shown& shown) { return at < shown.y; });
  return static_cast<std::size_t>(after - shown_.begin()) - 1;
}

std::optional<std::size_t> RowLayout::index_of(RowId row) const {
  if (row.value >= index_.size() || index_[row.value] == kNowhere) return std::nullopt;
  return index_[row.value];
}

std::uint32_t RowLayout::lane_at(const Shown& shown, std::int64_t y) const {
  if (shown.lanes == 0) return 0;
  std::int64_t lane = (y - shown.y) / std::max(1, metrics_.lane);
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(lane, 0, shown.lanes - 1));
}

}  // namespace headway::gui
