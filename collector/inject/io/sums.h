// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "collector/inject/thread.h"
#include "collector/wire/io.h"

namespace headway::inject::io {

/// One record.
struct IoEvent {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t bytes = 0;
  std::int64_t offset = -1;
  std::uint64_t detail = 0;
  std::uint32_t calls = 1;
  std::uint32_t path = 0;
  std::int32_t fd = -1;
  std::uint16_t error = 0;
  wire::IoOp op = wire::IoOp::kRead;
  wire::IoFunction function = wire::IoFunction::k_read;
};

/// False when the ring has no room (nothing is counted).
bool put(ThreadState& thread, const IoEvent& event);

/// Adds a short read or write to what the thread has summed for the descriptor. A sum is written
/// when it is 10 ms old, when the descriptor is closed, when the thread ends, or when another
/// descriptor needs its place; until then the ring's control block has its calls and bytes.
void add_to_sum(ThreadState& thread, const IoEvent& event);
/// Writes the sums of one descriptor; -1: of all.
void write_sums(ThreadState& thread, int fd = -1);

/// Duration in stamps of the process's clock.
std::uint64_t stamps_of_us(std::uint64_t microseconds);
/// Once, early: from here on the rate of the stamps can be told.
void start_rate();

}  // namespace headway::inject::io
