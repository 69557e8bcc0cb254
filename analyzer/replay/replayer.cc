// SPDX-License-Identifier: MIT
#include "analyzer/replay/replayer.h"

#include <algorithm>
#include <cmath>

#include "analyzer/replay/served_pools.h"

namespace headway::analyzer {
namespace {

const Edit* edit_of(const Scenario& scenario, ConstraintId constraint) {
  auto at =
      std::lower_bound(scenario.edits.begin(), scenario.edits.end(), constraint,
                       [](const Edit& edit, ConstraintId id) { return edit.constraint < id; });
  return at != scenario.edits.end() && at->constraint == constraint ? &*at : nullptr;
}

bool is_visit(const Scenario& scenario, ConstraintId constraint) {
  const auto at = std::ranges::lower_bound(scenario.visits, constraint, {}, &Visit::constraint);
  return at != scenario.visits.end() && at->constraint == constraint;
}

std::int64_t scaled(std::int64_t lag, double factor) {
  return static_cast<std::int64_t>(static_cast<double>(lag) * factor + 0.5);
}

}  // namespace

std::optional<DurationNs> lag_under(const Scenario& scenario, const Constraint& constraint) {
  if (const Edit* edit = edit_of(scenario, constraint.id)) {
    if (edit->lag == Edit::kRemoved) return std::nullopt;
    return DurationNs{edit->lag};
  }
  if (constraint.part.value >= scenario.factor.size()) return constraint.lag;
  return DurationNs{scaled(constraint.lag.ns, scenario.factor[constraint.part.value])};
}

const std::vector<std::int64_t>& Replayer::run(const Scenario& scenario) {
  time_.resize(program_.size());
  if (!scenario.pools.empty()) {
    pass<true, true>(scenario);
  } else if (scenario.factor.empty()) {
    pass<false, false>(scenario);
  } else {
    pass<true, false>(scenario);
  }
  return time_;
}

template <bool kFactors, bool kPools>
void Replayer::pass(const Scenario& scenario) {
  const Program& program = program_;
  std::vector<double> factor;
  if constexpr (kFactors) {
    factor = scenario.factor;
    factor.resize(std::size_t{1} << 16, 1.0);  // every part, so that none needs a check
  }
  const Program::FromLag* from_lag = program.from_lag_.data();
  const PartId* part = program.part_.data();
  std::int64_t* time = time_.data();
  auto edit = scenario.edits.begin();
  std::uint32_t next_edit =
      edit != scenario.edits.end() ? edit->constraint.value : ConstraintId::none().value;
  const std::uint32_t slots = static_cast<std::uint32_t>(program.size());
  std::optional<ServedPools> pools;
  if constexpr (kPools) pools.emplace(program, scenario);
  std::size_t visit = 0;
  std::uint32_t c = 0;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    const std::uint32_t end = program.first_[slot + 1];
    if constexpr (kPools) {
      if (slot == pools->next().value) {
        time[slot] = pools->serve(time_);
        c = end;
        while (edit != scenario.edits.end() && edit->constraint.value < c) ++edit;
        next_edit =
            edit != scenario.edits.end() ? edit->constraint.value : ConstraintId::none().value;
        continue;
      }
    }
    if (c == end) {
      time[slot] = program.recorded_[slot];
      continue;
    }
    std::int64_t latest = INT64_MIN;
    for (; c < end; ++c) {
      std::int64_t lag = from_lag[c].lag;
      if (lag == Program::kLong) [[unlikely]]
        lag = program.lag_of(c);
      if constexpr (kFactors) lag = scaled(lag, factor[part[c].value]);
      if (c == next_edit) [[unlikely]] {
        lag = edit->lag;
        ++edit;
        next_edit =
            edit != scenario.edits.end() ? edit->constraint.value : ConstraintId::none().value;
        if (lag == Edit::kRemoved) continue;
      }
      if constexpr (kPools) {
        while (visit < scenario.visits.size() && scenario.visits[visit].constraint.value < c)
          ++visit;
        if (visit < scenario.visits.size() && scenario.visits[visit].constraint.value == c)
          lag = pools->length_of_visit(visit);
      }
      latest = std::max(latest, time[from_lag[c].from] + lag);
    }
    // No constraint is left: the slot could have come with the first event.
    time[slot] = latest != INT64_MIN ? latest : program.recorded_[0];
  }
}

std::vector<Replayer::Link> Replayer::chain(const Scenario& scenario, Slot first, Slot last) const {
  std::vector<Link> links;
  const std::int64_t begin = time_[first.value];
  for (Slot at = last; time_[at.value] > begin;) {
    Constraint binding;
    std::int64_t best = INT64_MIN;
    program_.for_each(at, [&](const Constraint& constraint) {
      std::optional<DurationNs> lag = lag_under(scenario, constraint);
      if (!lag) return;
      const bool visited =
          is_visit(scenario, constraint.id);  // lasts as long as the server made it
      const std::int64_t one = visited ? time_[at.value] : time_[constraint.from.value] + lag->ns;
      // A constraint that would end later does not hold: another worker of a pool did the task.
      if (one <= best || one > time_[at.value]) return;
      best = one;
      binding = constraint;
    });
    if (!binding.from.valid()) break;  // it comes at its recorded time
    std::int64_t from = std::max(time_[binding.from.value], begin);
    links.push_back({at, binding, {time_[at.value] - from}});
    at = binding.from;
  }
  return links;
}

}  // namespace headway::analyzer
