// SPDX-License-Identifier: MIT
#include "collector/record/trace_assembler.h"

#include <algorithm>

#include "trace/meta_keys.h"
#include "trace/tables/clock_anchor.h"

namespace headway::record {

using trace::Loss;

TraceAssembler::TraceAssembler(TraceSink& sink, const ClockReading& origin, wire::Clock clock,
                               Progress& progress, std::function<void(SegmentId)> set_aside)
    : sink_(sink),
      axis_(origin),
      clock_(clock),
      progress_(progress),
      set_aside_(std::move(set_aside)),
      processes_(axis_),
      counters_(sink) {}

void TraceAssembler::run(MessageQueue& queue) {
  for (bool done = false; !done;) {
    std::optional<Message> message = queue.receive(std::chrono::milliseconds(50), done);
    if (message) std::visit([&](auto& m) { handle(m); }, *message);
    sink_.commit_if_due();
  }
}

void TraceAssembler::handle(SegmentAdded& message) {
  segments_[message.segment] = std::make_unique<SegmentDecoder>(
      message.pid, domains_, gpus_, processes_, counters_, axis_, clock_, sink_);
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
  std::int64_t process = global_pid(decoder.pid());
  auto count_events = [&, before = decoder.events()]() mutable {
    progress_.events += decoder.events() - before;
    before = decoder.events();
  };
  bool intact = !message.damaged && decoder.read(message.data);
  count_events();
  if (std::optional<std::string> note = decoder.definitions().take_note(wire::NoteKey::kCuda))
    cuda_ = *note;
  if (intact && !message.last) return;
  if (intact) {
    count_losses(message.counters, process);
    decoder.add_pending_io(message.counters);
    // At most 13 days: shared memory may say anything.
    cuda_overhead_ns_ +=
        static_cast<std::int64_t>(std::min(message.counters.activity_ns, std::uint64_t{1} << 50));
    if (message.counters.event_cost_ps > 0) {
      cost_sum_ps_ += message.counters.event_cost_ps;
      ++cost_count_;
    }
  } else {
    // Its counters are as damaged as the rest.
    sink_.count_loss(Loss::kSharedMemoryCorrupt, 1, process);
    set_aside_(message.segment);
  }
  decoder.finish();
  count_events();
  busiest_ = std::max(busiest_, decoder.busiest_thread());
  io_calls_ += decoder.io_calls();
  segments_.erase(found);
}

void TraceAssembler::count_losses(const SegmentCounters& counters, std::int64_t process) {
  auto count = [&](Loss loss, std::uint64_t n) {
    sink_.count_loss(loss, static_cast<std::int64_t>(n), process);
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
  std::int64_t time = axis_.from_monotonic(message.monotonic_ns).ns;
  for (const Sample& sample : message.samples) {
    CounterTable::Series series{sample.name, sample.unit, sample.description, 0, {}};
    if (sample.pid != 0) series.global_pid = global_pid(sample.pid);
    if (!sample.gpu.empty()) series.device = gpus_.of(sample.gpu);
    counters_.add(series, time, sample.value);
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
}

void TraceAssembler::finish() {
  for (auto& [id, decoder] : segments_) decoder->finish();  // none, unless a drain never ended
  if (axis_.clock_steps() > 0) sink_.count_loss(Loss::kClockStep, axis_.clock_steps());
  processes_.write(sink_);
}

double TraceAssembler::event_cost_ns() const {
  return cost_count_ == 0
             ? 0
             : static_cast<double>(cost_sum_ps_) / static_cast<double>(cost_count_) / 1000;
}

}  // namespace headway::record
