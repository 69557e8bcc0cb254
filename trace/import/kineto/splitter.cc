// SPDX-License-Identifier: MIT
#include "trace/import/kineto/splitter.h"

#include <algorithm>
#include <cstring>

#include "common/error.h"
#include "trace/import/kineto/boundary.h"
#include "trace/import/kineto/parser.h"

namespace headway::trace::kineto {
namespace {

/// Large enough that names are rarely interned and merged again; small enough that two blocks and
/// their columns take little memory beside the trace.
constexpr std::size_t kBlockBytes = 4 << 20;
/// Longer than any event record: a block of this size without a boundary is not a list of events.
constexpr std::size_t kMostRecordBytes = 256 << 20;
/// When less than this is read at the beginning, little follows: a block's memory is not needed.
constexpr std::size_t kSmallFileBytes = 64 << 10;
/// More than the bytes from a comma to the end of the first key behind it.
constexpr std::size_t kOverlap = 64;

}  // namespace

void Buffer::append(std::string_view text) {
  reserve_more(text.size());
  std::memcpy(data_.get() + size_, text.data(), text.size());
  size_ += text.size();
}

void Buffer::reserve_more(std::size_t more) {
  std::size_t wanted = size_ + more + kPadding;
  if (wanted <= capacity_) return;
  capacity_ = std::max(wanted, capacity_ * 2);
  auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
  if (size_) std::memcpy(larger.get(), data_.get(), size_);
  data_ = std::move(larger);
}

Splitter::Splitter(import_detail::Source& source, std::string first, std::int64_t offset,
                   bool careful, std::string file_name)
    : source_(source),
      carry_(std::move(first)),
      offset_(offset),
      careful_(careful),
      file_name_(std::move(file_name)) {}

/// The last boundary in the text; kNowhere when there is none yet. `searched`: the part that was
/// searched before; guessing looks only behind it.
std::size_t Splitter::boundary(std::string_view text, std::size_t searched) const {
  if (!careful_) return guess_boundary_before(text, text.size() - kOverlap, searched);
  std::size_t last = kNowhere;
  for (std::size_t at = 0;;) {
    std::size_t begin = skip_space(text, at + 1);
    std::size_t end = begin < text.size() ? value_end(text, begin) : kNowhere;
    if (end == kNowhere) break;
    end = skip_space(text, end);
    // At a bracket the array has ended; the block's reader handles that.
    if (end >= text.size() || text[end] != ',' || end <= at) break;
    last = at = end;
  }
  // An extra quote makes the rest of the file look like one text: then guess instead.
  if (last == kNowhere && text.size() > 2 * kBlockBytes)
    last = guess_boundary_before(text, text.size() - kOverlap, 0);
  return last;
}

bool Splitter::next(Block& block) {
  std::lock_guard lock(mutex_);
  if (ended_) return false;
  Buffer& text = block.text;
  text.clear();
  text.append(carry_);
  block.offset = offset_;
  block.last = false;
  for (;;) {
    std::size_t held = text.size();
    std::size_t wanted = held < kBlockBytes ? kBlockBytes - held : kBlockBytes;
    // The source has mostly been read to its end already.
    if (next_index_ == 0 && held < kSmallFileBytes) wanted = kSmallFileBytes;
    text.reserve_more(wanted);
    std::size_t got = source_.read(text.data() + held, wanted);
    text.set_size(held + got);
    if (got < wanted) {
      ended_ = block.last = true;
      break;
    }
    std::size_t cut = boundary(text.view(), held > kOverlap ? held - kOverlap : 0);
    if (cut != kNowhere) {
      carry_.assign(text.view().substr(cut));
      text.set_size(cut);
      break;
    }
    if (text.size() > kMostRecordBytes)
      fail_input(
          "{}: the event record at byte {} does not end within {} MiB; expected the events of "
          "PyTorch's profiler.",
          file_name_, offset_, kMostRecordBytes >> 20);
  }
  offset_ += static_cast<std::int64_t>(text.size());
  block.index = next_index_++;
  text.reserve_more(1);
  std::memset(text.data() + text.size(), ' ', kPadding);
  fraction_.store(source_.fraction(), std::memory_order_relaxed);
  return true;
}

}  // namespace headway::trace::kineto
