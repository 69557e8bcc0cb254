// SPDX-License-Identifier: MIT
#include "collector/record/messages/segment_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "collector/wire/record.h"
#include "common/error.h"

namespace headway::record {

std::unique_ptr<SegmentReader> SegmentReader::map(const FileDescriptor& memory,
                                                  std::uint32_t layout_index,
                                                  std::string& why_not) {
  if (!memory || layout_index >= wire::kLayouts.size()) {
    why_not = "it sent no memory";
    return nullptr;
  }
  const wire::Layout& layout = wire::kLayouts[layout_index];
  std::size_t bytes = wire::segment_bytes(layout);
  struct stat info {};
  int seals = ::fcntl(memory.get(), F_GET_SEALS);
  // The memory must be sealed against shrinking: else the process could make our reads fail
  // (SIGBUS).
  if (::fstat(memory.get(), &info) != 0 || seals < 0 || !(seals & F_SEAL_SHRINK) ||
      info.st_size != static_cast<off_t>(bytes)) {
    why_not = "its memory has the wrong kind or size";
    return nullptr;
  }
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (base == MAP_FAILED) {
    why_not = fmt::format("cannot map its memory: {}", system_error_text(errno));
    return nullptr;
  }
  std::unique_ptr<SegmentReader> reader(new SegmentReader(static_cast<std::byte*>(base), layout));
  if (reader->header().magic != wire::kMagic || reader->header().version != wire::kVersion) {
    why_not = "its memory has no valid header";
    return nullptr;
  }
  return reader;
}

SegmentReader::SegmentReader(std::byte* base, const wire::Layout& layout)
    : base_(base), layout_(layout) {}

SegmentReader::~SegmentReader() {
  ::munmap(base_, wire::segment_bytes(layout_));
}

bool SegmentReader::snapshot() {
  std::uint32_t used = header().rings_used.load(std::memory_order_acquire);
  if (used > wire::ring_count(layout_)) return false;
  // The memory of rings that were never used is not read: reading would allocate pages.
  if (used > rings_.size()) rings_.resize(used);
  fullest_ = 0;
  for (std::uint32_t i = 0; i < rings_.size(); ++i) {
    Ring& ring = rings_[i];
    std::uint64_t head = control(i).head.load(std::memory_order_acquire);
    std::uint64_t units = wire::ring_place(layout_, i).units;
    if (head < ring.head || head - ring.tail > units) return false;
    ring.head = head;
    fullest_ =
        std::max(fullest_, static_cast<double>(head - ring.tail) / static_cast<double>(units));
  }
  ready_.clear();
  for (std::uint32_t i = 0; i < layout_.activity.count; ++i) {
    if (area().slots[i].state.load(std::memory_order_acquire) == wire::SlotState::kReady)
      ready_.push_back(i);
  }
  std::uint64_t end = header().definitions_end.load(std::memory_order_acquire);
  if (end < definitions_taken_ || end > layout_.definition_bytes) return false;
  definitions_end_ = end;
  return true;
}

void SegmentReader::take(SegmentData& data, std::size_t limit, bool ended, bool& complete) {
  const std::byte* log = base_ + wire::definitions_offset(layout_);
  data.definitions.assign(log + definitions_taken_, log + definitions_end_);
  definitions_taken_ = definitions_end_;
  complete = true;
  std::size_t total = 0;
  for (const Ring& ring : rings_) total += (ring.head - ring.tail) * wire::kUnit;
  data.records.reserve(std::min(total, limit));
  for (std::uint32_t i = 0; i < rings_.size(); ++i) {
    Ring& ring = rings_[i];
    std::size_t bytes = (ring.head - ring.tail) * wire::kUnit;
    if (bytes == 0) continue;
    if (data.records.size() + bytes > limit) {
      complete = false;
      continue;
    }
    wire::RingPlace place = wire::ring_place(layout_, i);
    const std::byte* ring_data = base_ + place.offset;
    std::size_t begin = ring.tail % place.units * wire::kUnit;
    std::size_t to_end = std::min(bytes, place.units * wire::kUnit - begin);
    data.slices.push_back({i, data.records.size(), bytes});
    data.records.insert(data.records.end(), ring_data + begin, ring_data + begin + to_end);
    data.records.insert(data.records.end(), ring_data, ring_data + (bytes - to_end));
    ring.tail = ring.head;
    control(i).tail.store(ring.tail, std::memory_order_release);
  }
  take_activity(data, limit, ended, complete);
}

void SegmentReader::take_activity(SegmentData& data, std::size_t limit, bool ended,
                                  bool& complete) {
  if (ended) {
    for (std::uint32_t i = 0; i < layout_.activity.count; ++i) {
      if (area().slots[i].state.load(std::memory_order_acquire) == wire::SlotState::kHeld)
        ready_.push_back(i);
    }
  }
  for (std::uint32_t i : ready_) {
    wire::ActivitySlot& slot = area().slots[i];
    const bool partial = slot.state.load(std::memory_order_acquire) == wire::SlotState::kHeld;
    const std::uint64_t size = layout_.activity.bytes;
    const std::size_t bytes = partial ? size : std::min(slot.valid_bytes, size);
    if (data.records.size() + data.activity.size() + bytes > limit) {
      complete = false;
      continue;
    }
    std::byte* memory = base_ + wire::activity_offset(layout_) + i * size;
    data.buffers.push_back(
        {data.activity.size(), bytes, partial, partial ? UINT64_MAX : slot.order});
    data.activity.insert(data.activity.end(), memory, memory + bytes);
    // CUPTI gets a cleared slot, so that the unwritten part of a buffer can be recognised.
    std::memset(memory, 0, size);
    slot.state.store(wire::SlotState::kFree, std::memory_order_release);
  }
  std::stable_sort(data.buffers.begin(), data.buffers.end(),
                   [](const auto& a, const auto& b) { return a.order < b.order; });
  for (std::size_t kind = 0; kind < data.strides.size(); ++kind)
    data.strides[kind] = area().stride[kind].load(std::memory_order_relaxed);
}

SegmentCounters SegmentReader::counters() const {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  SegmentCounters sum;
  for (std::uint32_t i = 0; i < rings_.size(); ++i) {
    const std::uint64_t dropped = control(i).dropped.load(kRelaxed);
    sum.dropped += dropped;
    sum.most_dropped_calls =
        std::max(sum.most_dropped_calls, dropped + control(i).dropped_ends.load(kRelaxed));
    sum.pops_without_push += control(i).pops_without_push.load(kRelaxed);
    sum.unknown_handles += control(i).unknown_handles.load(kRelaxed);
    sum.pending_reads += control(i).pending_reads.load(kRelaxed);
    sum.pending_read_bytes += control(i).pending_read_bytes.load(kRelaxed);
    sum.pending_writes += control(i).pending_writes.load(kRelaxed);
    sum.pending_written_bytes += control(i).pending_written_bytes.load(kRelaxed);
  }
  sum.events_without_ring = header().events_without_ring.load(kRelaxed);
  sum.reentrant_events = header().reentrant_events.load(kRelaxed);
  sum.definitions_lost = header().definitions_lost.load(kRelaxed);
  sum.io_paths_folded = header().io_paths_folded.load(kRelaxed);
  sum.io_not_followed = header().io_not_followed.load(kRelaxed);
  sum.activity_lost = area().dropped.load(kRelaxed) + area().discarded.load(kRelaxed);
  sum.activity_ns = area().spent_ns.load(kRelaxed);
  sum.event_cost_ps = header().event_cost_ps;
  return sum;
}

}  // namespace headway::record
