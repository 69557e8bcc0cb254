// SPDX-License-Identifier: MIT
#include "analyzer/whatif/best_order.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/text.h"

namespace headway::analyzer {
namespace {

std::vector<std::string_view> switches_of(const ProposedFix& one) {
  std::vector<std::string_view> names;
  for (std::string_view rest = setting_of(*one.fix, *one.proposal); !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of(" ,"), rest.size());
    if (const std::string_view word = rest.substr(0, end); word.starts_with("--"))
      names.push_back(word);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

bool set_the_same_switch(const ProposedFix& a, const ProposedFix& b) {
  const auto theirs = switches_of(b);
  return std::ranges::any_of(switches_of(a), [&](std::string_view name) {
    return std::ranges::find(theirs, name) != theirs.end();
  });
}

/// True if both scenarios model the time of the same message (half the bytes, or all buckets in
/// one). Neither formula takes the other into account, so the shorter of both times would be wrong.
bool send_the_same(const Predictor& predictor, const Scenario& a, const Scenario& b) {
  auto other = b.edits.begin();
  for (const Edit& edit : a.edits) {
    while (other != b.edits.end() && other->constraint < edit.constraint) ++other;
    if (other == b.edits.end()) return false;
    if (other->constraint != edit.constraint || !edit.modelled || !other->modelled) continue;
    const PartId part = predictor.program().constraint(edit.constraint).part;
    if (info(predictor.parts()[part.value].time_class).group == TimeGroup::kCommunication)
      return true;
  }
  return false;
}

class Order {
 public:
  Order(const Predictor& predictor, std::vector<ProposedFix> open, double least)
      : predictor_(predictor), open_(std::move(open)), least_(least) {}

  /// Adds the fix that gains most. False if none of the remaining fixes gains enough.
  bool add_one() {
    std::vector<Scenario> tries;
    for (const ProposedFix& one : open_) tries.push_back(scenario_.with(one.proposal->scenario));
    const std::vector<Prediction> predictions = predictor_.predict(tries);
    double most = 0;
    std::size_t best = 0;
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      const double more = share(predictions[i].gain - gained_);
      if (more < std::max(least_, open_[i].least) || more * open_[i].proposal->certainty <= most)
        continue;
      most = more * open_[i].proposal->certainty;
      best = i;
    }
    if (most == 0) return false;
    gained_ = predictions[best].gain;
    add(open_[best]);
    return true;
  }

  bool add_two() {
    Scenario all = scenario_;
    for (const ProposedFix& one : open_) all = all.with(one.proposal->scenario);
    if (open_.size() < 2 || share(predictor_.predict(all).gain - gained_) < kWorthBoth)
      return false;
    std::vector<std::pair<ProposedFix, ProposedFix>> pairs;
    std::vector<Scenario> tries;
    for (std::size_t a = 0; a < open_.size(); ++a) {
      for (std::size_t b = a + 1; b < open_.size(); ++b) {
        if (exclude_each_other(open_[a], open_[b])) continue;
        pairs.emplace_back(open_[a], open_[b]);
        tries.push_back(
            scenario_.with(open_[a].proposal->scenario).with(open_[b].proposal->scenario));
      }
    }
    const std::vector<Prediction> predictions = predictor_.predict(tries);
    double most = 0;
    std::size_t best = 0;
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      const double more = share(predictions[i].gain - gained_);
      const double likely =
          more * pairs[i].first.proposal->certainty * pairs[i].second.proposal->certainty;
      if (more < std::max({kWorthBoth, pairs[i].first.least, pairs[i].second.least}) ||
          likely <= most)
        continue;
      most = likely;
      best = i;
    }
    if (most == 0) return false;
    gained_ = predictions[best].gain;
    add(pairs[best].first);
    add(pairs[best].second);
    return true;
  }

  std::vector<OrderedFix> take() { return std::move(order_); }

 private:
  void add(const ProposedFix one) {
    chosen_.push_back(one);
    scenario_ = scenario_.with(one.proposal->scenario);
    order_.push_back({one.fix, one.proposal, together(chosen_).predict(predictor_)});
    std::erase_if(open_, [&](const ProposedFix& other) {
      return other.fix == one.fix || exclude_each_other(other, one);
    });
  }
  /// True for alternatives such as half precision and TF32, or samples in memory and in shards.
  bool exclude_each_other(const ProposedFix& a, const ProposedFix& b) const {
    return set_the_same_switch(a, b) ||
           send_the_same(predictor_, a.proposal->scenario, b.proposal->scenario);
  }
  double share(DurationNs gain) const { return ratio(gain, predictor_.baseline().recorded); }

  const Predictor& predictor_;
  std::vector<ProposedFix> open_;
  double least_;
  std::vector<ProposedFix> chosen_;
  Scenario scenario_;
  DurationNs gained_;
  std::vector<OrderedFix> order_;
};

}  // namespace

std::vector<OrderedFix> best_order(const Predictor& predictor, std::vector<ProposedFix> open,
                                   double least) {
  std::erase_if(open, [](const ProposedFix& one) {
    return !one.proposal->applies || one.fix->kind == FixKind::kCeiling ||
           one.proposal->scenario.work != 1;
  });
  Order order(predictor, std::move(open), least);
  while (order.add_one() || order.add_two()) {
  }
  return order.take();
}

}  // namespace headway::analyzer
