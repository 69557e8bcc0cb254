// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "collector/wire/hello.h"
#include "collector/wire/layout.h"

namespace headway::inject {

/// This process's end of the shared memory.
struct Segment {
  std::byte* base = nullptr;             ///< where it is mapped; null: there is no segment
  const wire::Layout* layout = nullptr;  ///< one of wire::kLayouts
  /// True when the kernel populates pages on request (MADV_POPULATE_WRITE, Linux 5.14): memory is
  /// taken ring by ring. False: all memory was taken at creation.
  bool populates = false;

  explicit operator bool() const { return base != nullptr; }
  wire::SegmentHeader& header() const { return *reinterpret_cast<wire::SegmentHeader*>(base); }
  wire::RingControl& control(std::uint32_t ring) const {
    return reinterpret_cast<wire::RingControl*>(base + wire::kControlOffset)[ring];
  }
  /// Where the definitions log begins.
  std::byte* definitions() const { return base + wire::definitions_offset(*layout); }
  /// Size of the mapping.
  std::size_t bytes() const { return wire::segment_bytes(*layout); }
};

/// Creates and maps a segment with the largest layout that this process's limits and the kernel
/// allow. On success `fd` is its descriptor, which the caller closes after the hand-over. On
/// failure the result is empty, and `problem` and `error` say why. Never raises a signal, however
/// tight the limits.
Segment create_segment(int& fd, wire::Problem& problem, int& error);
/// Unmaps the segment; the recorder's mapping of it stays.
void destroy_segment(Segment& segment);

/// Populates [begin, begin + bytes) now, so that the hot path neither faults nor dies of SIGBUS.
/// False when the system has no memory for it.
bool populate(const Segment& segment, std::byte* begin, std::size_t bytes);

}  // namespace headway::inject
