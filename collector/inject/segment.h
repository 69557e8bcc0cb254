// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "collector/wire/hello.h"
#include "collector/wire/layout.h"

namespace headway::inject {

/// This process's end of the shared memory.
struct Segment {
  std::byte* base = nullptr;             ///< where it is mapped; null: there is none
  const wire::Layout* layout = nullptr;  ///< one of wire::kLayouts
  /// The kernel fills pages on request (MADV_POPULATE_WRITE, Linux 5.14), so memory can be taken
  /// ring by ring; else all of it was taken at creation.
  bool populates = false;

  explicit operator bool() const { return base != nullptr; }
  wire::SegmentHeader& header() const { return *reinterpret_cast<wire::SegmentHeader*>(base); }
  wire::RingControl& control(std::uint32_t ring) const {
    return reinterpret_cast<wire::RingControl*>(base + wire::kControlOffset)[ring];
  }
  /// Where the log begins.
  std::byte* definitions() const { return base + wire::definitions_offset(*layout); }
  /// Of the mapping.
  std::size_t bytes() const { return wire::segment_bytes(*layout); }
};

/// Creates and maps a segment, the largest layout that this process's limits and the kernel allow.
/// On success `fd` is its descriptor, to be closed after the hand-over; on failure the result is
/// empty and `problem` and `error` say why. Never raises a signal, however tight the limits.
Segment create_segment(int& fd, wire::Problem& problem, int& error);
/// Unmaps it; what the recorder has mapped stays until it lets go.
void destroy_segment(Segment& segment);

/// Takes the memory behind [begin, begin + bytes) now, so that the hot path neither faults nor dies
/// of SIGBUS. False when there is none.
bool populate(const Segment& segment, std::byte* begin, std::size_t bytes);

}  // namespace headway::inject
