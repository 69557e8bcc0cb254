// SPDX-License-Identifier: MIT
#include "collector/record/trace_assembler.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/format.h"
#include "trace/meta_keys.h"
#include "trace/tables/clock_anchor.h"

namespace headway::record {

using trace::Loss;

TraceAssembler::TraceAssembler(TraceSink& sink, const ClockReading& origin, wire::Clock clock,
                               Scope& scope, Progress& progress,
                               std::function<void(SegmentId)> set_aside)
    : sink_(sink),
      axis_(origin, scope.hold() + DurationNs{10'000'000'000}),
      clock_(clock),
      scope_(scope),
      progress_(progress),
      set_aside_(std::move(set_aside)),
      processes_(axis_),
      counters_(sink) {}

void TraceAssembler::run(MessageQueue& queue) {
  for (bool done = false; !done;) {
    std::optional<Message> message = queue.receive(std::chrono::milliseconds(50), done);
    if (message) std::visit([&](auto& m) { handle(m); }, *message);
    sink_.commit_if_due();
    check_scope();
  }
  release_all();
}

void TraceAssembler::check_scope() {
  if (scope_.over() || !scope_.options().by_time()) return;
  const std::int64_t now = read_clocks().monotonic_ns;
  if (scope_.hold().ns > 0) release(now);
  scope_.advance(axis_.from_monotonic(now));
  const std::int64_t most = scope_.options().max_bytes;
  // End at the newest decoded time: rounds that still wait would make the file even larger.
  if (most > 0 && sink_.bytes() >= most)
    scope_.end_at(axis_.from_monotonic(axis_.newest().monotonic_ns),
                  fmt::format("until the file had {}", format_bytes(most)));
}

void TraceAssembler::handle(SegmentAdded& message) {
  segments_[message.segment] = std::make_unique<SegmentDecoder>(
      message.pid, domains_, gpus_, processes_, counters_, axis_, clock_, sink_, scope_);
  processes_.injected(message.pid);
  progress_.processes = static_cast<std::int64_t>(processes_.injected_count());
}

void TraceAssembler::handle(ProcessRefused& message) {
  refusals_.push_back("process " + std::to_string(message.pid) + ": " + message.reason);
}

void TraceAssembler::handle(SegmentRound& message) {
  axis_.add_anchor(message.anchor);
  auto found = segments_.find(message.segment);
  if (found == segments_.end()) return;
  SegmentDecoder& decoder = *found->second;
  if (!message.damaged) message.damaged = !decoder.read_definitions(message.data);
  if (std::optional<std::string> note = decoder.definitions().take_note(wire::NoteKey::kCuda)) {
    cuda_ = *note;
    if (cuda_.starts_with("on")) scope_.cuda_is_on();
  }
  if (scope_.hold().ns == 0) return decode(message);
  if (!message.damaged) decoder.watch(message.data);
  message.data.definitions = {};
  held_bytes_ += message.data.bytes();
  held_.push_back(std::move(message));
}

void TraceAssembler::note_calls(std::size_t until) {
  for (; noted_ < until; ++noted_) {
    auto found = segments_.find(held_[noted_].segment);
    if (found != segments_.end() && !held_[noted_].damaged)
      found->second->note_calls(held_[noted_].data);
  }
}

void TraceAssembler::release_oldest() {
  SegmentRound round = std::move(held_.front());
  held_.pop_front();
  held_bytes_ -= round.data.bytes();
  if (noted_ > 0) --noted_;
  decode(round);
}

void TraceAssembler::release(std::int64_t now_monotonic_ns) {
  const std::int64_t hold = scope_.hold().ns;
  const bool ring = scope_.options().choice == Choice::kRing;
  auto is_older = [&](const SegmentRound& round, std::int64_t ns) {
    return round.anchor.monotonic_ns < now_monotonic_ns - ns;
  };
  if (ring) {
    scope_.begin_at(axis_.from_monotonic(now_monotonic_ns - hold));
  } else {
    std::size_t known = noted_;
    while (known < held_.size() && is_older(held_[known], hold / 2)) ++known;
    note_calls(known);
  }
  while (!held_.empty() && (is_older(held_.front(), hold) || (ring && held_bytes_ > kMostHeld))) {
    if (ring) scope_.begin_at(axis_.from_monotonic(held_.front().anchor.monotonic_ns));
    release_oldest();
  }
  while (!held_samples_.empty() && held_samples_.front().monotonic_ns < now_monotonic_ns - hold) {
    write(held_samples_.front());  // for --ring: too old, so nothing is written
    held_samples_.pop_front();
  }
}

void TraceAssembler::release_all() {
  if (scope_.hold().ns == 0) return;
  const std::int64_t now = axis_.newest().monotonic_ns;
  // The last seconds are counted back from the end of the recording, which is now.
  if (scope_.options().choice == Choice::kRing)
    scope_.begin_at(axis_.from_monotonic(now - scope_.hold().ns));
  note_calls(held_.size());
  while (!held_.empty()) {
    release_oldest();
    sink_.commit_if_due();
  }
  for (Samples& samples : held_samples_) write(samples);
  held_samples_.clear();
}

void TraceAssembler::decode(SegmentRound& message) {
  auto found = segments_.find(message.segment);
  if (found == segments_.end()) return;
  SegmentDecoder& decoder = *found->second;
  std::int64_t process = global_pid(decoder.pid());
  auto count_events = [&, before = decoder.events()]() mutable {
    progress_.events += decoder.events() - before;
    before = decoder.events();
  };
  std::int64_t calls_dropped = 0;
  bool intact = !message.damaged && decoder.read_records(message.data);
  count_events();
  if (intact && !message.last) return;
  if (intact) {
    count_losses(message.counters, process);
    // Bounded, because the shared memory is untrusted.
    calls_dropped = static_cast<std::int64_t>(
        std::min(message.counters.most_dropped_calls, std::uint64_t{1} << 50));
    decoder.add_pending_io(message.counters);
    // Bounded to 13 days, because the shared memory is untrusted.
    cuda_overhead_ns_ +=
        static_cast<std::int64_t>(std::min(message.counters.activity_ns, std::uint64_t{1} << 50));
    if (message.counters.event_cost_ps > 0) {
      cost_sum_ps_ += message.counters.event_cost_ps;
      ++cost_count_;
    }
  } else {
    // The counters of a damaged segment are not used.
    sink_.count_loss(Loss::kSharedMemoryCorrupt, 1, process);
    set_aside_(message.segment);
  }
  decoder.finish();
  count_events();
  // The thread that fills a ring records most: the dropped calls cost it time, too.
  busiest_ = std::max(busiest_, decoder.busiest_thread() + calls_dropped);
  io_calls_ += decoder.io_calls();
  segments_.erase(found);
}

void TraceAssembler::count_losses(const SegmentCounters& counters, std::int64_t process) {
  auto count = [&](Loss loss, std::uint64_t n) {
    // Bounded, because the shared memory is untrusted; real counts, and their sums, are far
    // smaller.
    constexpr std::uint64_t kMost = std::uint64_t{1} << 50;
    sink_.count_loss(loss, static_cast<std::int64_t>(std::min(n, kMost)), process);
  };
  if (counters.dropped) count(Loss::kRingFull, counters.dropped);
  if (counters.events_without_ring) count(Loss::kThreadsWithoutRing, counters.events_without_ring);
  if (counters.pops_without_push) count(Loss::kNvtxPopWithoutPush, counters.pops_without_push);
  if (counters.unknown_handles) count(Loss::kNvtxUnknownHandle, counters.unknown_handles);
  if (counters.definitions_lost) count(Loss::kNvtxUnknownHandle, counters.definitions_lost);
  if (counters.io_paths_folded) count(Loss::kIoPathFolded, counters.io_paths_folded);
  if (counters.io_not_followed) count(Loss::kIoNotFollowed, counters.io_not_followed);
  if (counters.activity_lost) count(Loss::kCuptiDropped, counters.activity_lost);
  if (counters.reentrant_events) count(Loss::kReentrantEvent, counters.reentrant_events);
}

void TraceAssembler::handle(Samples& message) {
  if (scope_.hold().ns > 0) {
    held_samples_.push_back(std::move(message));
  } else {
    write(message);
  }
}

void TraceAssembler::write(const Samples& message) {
  const Interval covered{axis_.from_monotonic(message.since_ns),
                         axis_.from_monotonic(message.monotonic_ns)};
  if (!scope_.keeps_sample(covered)) return;
  for (const Sample& sample : message.samples) {
    CounterTable::Series series{sample.name, sample.unit, sample.description, 0, {}};
    if (sample.pid != 0) series.global_pid = global_pid(sample.pid);
    if (!sample.gpu.empty()) series.device = gpus_.of(sample.gpu);
    counters_.add(series, covered.end.ns, sample.value);
  }
}

void TraceAssembler::handle(ClockTick& message) {
  const ClockReading& reading = message.reading;
  axis_.add_anchor(reading);
  trace::tables::ClockAnchor::Row row;
  row.realtime = reading.realtime_ns - axis_.origin().realtime_ns;
  row.monotonic = reading.monotonic_ns;
  if (reading.tsc != 0) row.tsc = static_cast<std::int64_t>(reading.tsc);
  sink_.add<trace::tables::ClockAnchor>(row);
  processes_.refresh_thread_names(reading.monotonic_ns);
  processes_.write_news(sink_, reading.monotonic_ns);
}

void TraceAssembler::finish() {
  for (auto& [id, decoder] : segments_) decoder->finish();  // empty, unless a drain never ended
  if (axis_.clock_steps() > 0) sink_.count_loss(Loss::kClockStep, axis_.clock_steps());
  processes_.write(sink_);
  processes_.count_losses(sink_);
}

double TraceAssembler::event_cost_ns() const {
  return cost_count_ == 0
             ? 0
             : static_cast<double>(cost_sum_ps_) / static_cast<double>(cost_count_) / 1000;
}

}  // namespace headway::record
