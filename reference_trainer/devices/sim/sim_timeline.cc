// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/sim/sim_timeline.h"

#include <algorithm>
#include <cmath>

#include "common/error.h"

namespace headway::trainer::sim {

Timeline::Timeline(const Options& options, const DrawnWorld& drawn, SimWorld& world,
                   Recording& recording)
    : options_(options), drawn_(drawn), world_(world), recording_(recording) {}

std::uint64_t Timeline::submitted(StreamId on) const {
  const Stream& s = streams_[on.value];
  return s.ends.size() + (s.running ? 1 : 0) + s.queue.size();
}

void Timeline::submit(StreamId on, Work work) {
  streams_[on.value].queue.push_back(std::move(work));
}

std::uint64_t Timeline::next_collective(StreamId on, SimGroup* group) {
  return streams_[on.value].collectives[group]++;
}

std::int64_t Timeline::end_of(StreamId on, std::uint64_t sequence) {
  const Stream& s = streams_[on.value];
  // The last event may be a wait that is passed, which is not a step.
  while (s.ends.size() < sequence && step(kNever - 1)) {
  }
  HEADWAY_INVARIANT(s.ends.size() >= sequence);
  return s.ends[sequence - 1];
}

std::uint64_t Timeline::op_of(StreamId on, std::uint64_t sequence) const {
  return streams_[on.value].last_ops[sequence - 1];
}

bool Timeline::ended_by(StreamId on, std::uint64_t sequence, std::int64_t time) {
  const Stream& s = streams_[on.value];
  while (s.ends.size() < sequence && step(time)) {
  }
  return s.ends.size() >= sequence && s.ends[sequence - 1] <= time;
}

void Timeline::add_edge(EdgeKind kind, std::uint64_t from, std::uint64_t to, std::int64_t lag,
                        int rank) {
  if (options_.record_edges) recording_.edges.push_back({kind, from, to, lag, rank});
}

/// At the same time, ends come before starts, so that an engine is free for the next copy; then
/// streams go in order.
bool Timeline::step(std::int64_t limit) {
  pass_waits();
  std::int64_t time = kNever;
  std::size_t at = 0;
  bool ends = false;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Stream& s = streams_[i];
    if (s.running) {
      if (s.running->end > time || (s.running->end == time && ends)) continue;
      time = s.running->end;
      at = i;
      ends = true;
    } else if (!s.queue.empty() && !s.queue.front().waits) {
      const std::int64_t start = start_of(s, s.queue.front()).time;
      if (start >= time) continue;
      time = start;
      at = i;
      ends = false;
    }
  }
  if (time > limit) return false;
  clock_ = std::max(clock_, time);
  Stream& s = streams_[at];
  if (!ends) {
    begin(at);
  } else if (s.running->known) {
    finish(at);
  } else {
    ask(*s.running);
  }
  return true;
}

void Timeline::pass_waits() {
  for (bool passed = true; passed;) {
    passed = false;
    for (Stream& s : streams_)
      while (!s.running && !s.queue.empty() && s.queue.front().waits && pass_wait(s)) passed = true;
  }
}

/// An awaited event costs a stream nothing once it has passed.
bool Timeline::pass_wait(Stream& s) {
  const Event event = s.queue.front().event;
  const Stream& other = streams_[event.stream.value];
  if (other.ends.size() < event.sequence) return false;
  s.queue.pop_front();
  const std::int64_t end = other.ends[event.sequence - 1];
  const std::uint64_t op = other.last_ops[event.sequence - 1];
  if (op != 0) s.awaited.push_back(op);
  if (end > s.waited_until) {
    s.waited_until = end;
    s.waited_for = op;
  }
  s.ends.push_back(std::max(s.ends.empty() ? 0 : s.ends.back(), end));
  s.last_ops.push_back(s.last_ops.empty() ? 0 : s.last_ops.back());
  return true;
}

/// When the head of a queue starts if nothing comes before it, and what determines that time.
Timeline::Start Timeline::start_of(const Stream& s, const Work& work) const {
  Start start{work.called + drawn_.costs.launch_latency_ns, Binding::kLaunch, 0};
  auto bind = [&](std::int64_t time, Binding binding, std::uint64_t by) {
    if (time > start.time) start = {time, binding, by};
  };
  const std::int64_t gap = work.gap;
  const std::uint64_t last = s.last_ops.empty() ? 0 : s.last_ops.back();
  if (last != 0) bind(s.ends.back() + gap, Binding::kStream, last);
  if (s.waited_for != 0) bind(s.waited_until + gap, Binding::kEvent, s.waited_for);
  if (work.engine >= 0) {
    const Engine& engine = engines_[static_cast<std::size_t>(work.engine)];
    if (engine.busy) return {};  // its end is not known yet
    if (engine.last != 0) bind(engine.free_at, Binding::kEngine, engine.last);
  }
  return start;
}

void Timeline::begin(std::size_t index) {
  Stream& s = streams_[index];
  Running running;
  running.work = std::move(s.queue.front());
  s.queue.pop_front();
  Work& work = running.work;
  Op& op = work.op;
  const Start start = start_of(s, work);
  op.start = start.time;
  op.binding = start.binding;
  op.bound_by = start.by;
  const std::int64_t gap = work.gap;
  add_edge(EdgeKind::kLaunch, op.call(), op.correlation, drawn_.costs.launch_latency_ns);
  const std::uint64_t last = s.last_ops.empty() ? 0 : s.last_ops.back();
  if (last != 0) add_edge(EdgeKind::kStream, last, op.correlation, gap);
  for (std::uint64_t awaited : s.awaited) add_edge(EdgeKind::kEvent, awaited, op.correlation, gap);
  s.awaited.clear();
  s.waited_until = 0;
  s.waited_for = 0;
  if (work.engine >= 0) {
    Engine& engine = engines_[static_cast<std::size_t>(work.engine)];
    if (engine.last != 0) add_edge(EdgeKind::kEngine, engine.last, op.correlation, 0);
    engine.busy = true;
    ++copies_[work.engine];
  } else if (work.group) {
    work.group->arrive(work.group_sequence, options_.rank, op.start);
    running.known = false;
    ++comms_;
  } else {
    occupied_ += work.occupancy;
    const auto& throttle = drawn_.throttle;
    const auto at = static_cast<double>(op.start);
    if (throttle.period_ns > 0 &&
        std::fmod(at, throttle.period_ns) > throttle.period_ns * (1 - throttle.share))
      work.duration += std::llround(static_cast<double>(work.duration) * throttle.slower);
  }
  if (work.group) work.duration = transfer_ns(work);
  running.remaining = static_cast<double>(work.duration);
  running.since = op.start;
  running.end = op.start + work.duration;
  s.running = std::move(running);
  share_device();
}

/// Asks for the end of a collective, at the time when it would end if no member came later.
void Timeline::ask(Running& collective) {
  Work& work = collective.work;
  SimGroup::Arrivals arrivals;
  if (work.group->passes_messages()) {
    const auto met =
        work.group->meet(work.group_sequence, options_.rank, work.duration, collective.end);
    if (!met) return;  // other work comes first
    arrivals = *met;
  } else {
    arrivals = work.group->wait(work.group_sequence);
  }
  work.op.last_arrival = arrivals.last;
  collective.end = arrivals.last + work.duration;
  collective.known = true;
  add_edge(EdgeKind::kCollective, work.group_sequence, work.op.correlation, work.duration,
           arrivals.last_rank);
}

void Timeline::finish(std::size_t index) {
  Stream& s = streams_[index];
  Work work = std::move(s.running->work);
  work.op.end = s.running->end;
  s.running.reset();
  if (work.engine >= 0) {
    Engine& engine = engines_[static_cast<std::size_t>(work.engine)];
    engine = {work.op.end, work.op.correlation, false};
    --copies_[work.engine];
  } else if (work.group) {
    --comms_;
  } else {
    occupied_ -= work.occupancy;
  }
  s.ends.push_back(work.op.end);
  s.last_ops.push_back(work.op.correlation);
  if (options_.record_events) recording_.ops.push_back(work.op);
  share_device();
}

/// Sets how fast each piece of work proceeds, after the set of running work has changed.
void Timeline::share_device() {
  if (!drawn_.contention.shared) return;
  for (Stream& s : streams_) {
    if (!s.running || s.running->work.group) continue;
    Running& one = *s.running;
    const double rate = 1 / slowdown(one);
    if (rate == one.rate) continue;
    const std::int64_t from = std::max(clock_, one.since);
    one.remaining = std::max(0.0, one.remaining - static_cast<double>(from - one.since) * one.rate);
    one.since = from;
    one.rate = rate;
    one.end = from + std::llround(one.remaining / rate);
  }
}

double Timeline::slowdown(const Running& one) const {
  const auto& by = drawn_.contention;
  const Work& work = one.work;
  if (work.engine >= 0) {
    const bool both_ways = work.engine < 2 && copies_[1 - work.engine] > 0;
    return 1 + (both_ways ? by.copy_by_copy : 0);
  }
  double slower = std::max(1.0, occupied_);
  if (occupied_ > work.occupancy + 1e-9) slower *= 1 + by.loss;
  if (comms_ > 0) slower *= 1 + (work.matrix ? by.matrix_by_comm : by.streaming_by_comm);
  if (copies_[0] + copies_[1] + copies_[2] > 0) slower *= 1 + by.by_copy;
  return slower;
}

/// The same for all members: it must not depend on anything that only one of them knows.
std::int64_t Timeline::transfer_ns(const Work& work) const {
  const std::int64_t alone = world_.links().collective_ns(work.collective, work.scope,
                                                          work.group->size(), work.transfer_bytes);
  const std::int64_t drawn = std::llround(
      static_cast<double>(alone) * drawn_.factor(drawn_.noise.collective,
                                                 static_cast<std::uint64_t>(work.scope) + 0xC011,
                                                 work.group_sequence));
  return is_message(work.collective) ? std::max<std::int64_t>(1, drawn) : drawn;
}

}  // namespace headway::trainer::sim
