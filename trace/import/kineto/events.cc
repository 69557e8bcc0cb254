// SPDX-License-Identifier: MIT
// Parses blocks of records on several threads. The fast way gives simdjson slices of many records; a slice that it refuses is
// read record by record.
#include "trace/import/kineto/events.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "trace/import/kineto/boundary.h"
#include "trace/import/kineto/parser.h"
#include "trace/import/kineto/splitter.h"

namespace headway::trace::kineto {
namespace {

/// Small enough that text and structural index (at worst four bytes per character) stay in the L2
/// cache between the parser's two passes.
constexpr std::size_t kSliceBytes = 256 << 10;

/// Bytes that searches for the ends of records may read in one block. Without a limit, a file in which every record has a
/// bracket too many takes quadratic time: each search goes to the end of the block.
constexpr std::size_t kMostLooking = std::size_t{1} << 30;

struct BlockResult {
  Part part;
  std::size_t index = 0;
  bool guess_failed = false;
  bool closed = false;
  std::int64_t end = 0;
  std::string tail;
  bool last = false;
  std::int64_t cut_record = -1;
};

void malformed(Part& part, std::int64_t offset, std::string_view why) {
  if (part.malformed_at < 0) {
    part.malformed_at = offset;
    part.malformed_why = why;
  }
  count(part.losses, Loss::kMalformedRecord);
}

class BlockReader {
 public:
  BlockReader(const EventsInput& input) : input_(input) {}

  BlockResult read(Block& block) {
    BlockResult result;
    if (!read_fast(block, result)) {
      result = {};
      read_carefully(block, result);
    }
    result.index = block.index;
    result.last = block.last;
    return result;
  }

 private:
  /// Reads slices of many records. False: a slice has a fault.
  bool read_fast(Block& block, BlockResult& result) {
    Filing filing(result.part, input_.format, input_.keep_launch_flows);
    char* text = block.text.data();
    std::size_t size = block.text.size();
    for (std::size_t begin = 0; begin < size;) {
      std::size_t end = size;
      if (size - begin > 2 * kSliceBytes) {
        end = guess_boundary_after(block.text.view(), begin + kSliceBytes);
        if (end == kNowhere) end = size;
      }
      // The separators around the slice are replaced by brackets. There is room for one behind the block.
      char before = std::exchange(text[begin], '[');
      char after = std::exchange(text[end], ']');
      Parser::Result read = parser_.read_array({text + begin, end - begin + 1}, filing);
      text[begin] = before;
      text[end] = after;
      if (read.outcome == Parser::Outcome::kFailed || read.unusable > 0) return false;
      result.part.records += read.filed;
      if (read.outcome == Parser::Outcome::kEndedEarly) {
        close(block, begin + read.rest, result);
        return true;
      }
      begin = end;
    }
    result.end = block.offset + static_cast<std::int64_t>(size);
    return true;
  }

  void close(const Block& block, std::size_t rest, BlockResult& result) {
    std::string_view text = block.text.view();
    rest = std::min(rest, text.size());
    result.closed = true;
    result.end = block.offset + static_cast<std::int64_t>(rest);
    result.tail = text.substr(rest);
  }

  /// Reads record by record: a bad record loses only itself.
  void read_carefully(Block& block, BlockResult& result) {
    Filing filing(result.part, input_.format, input_.keep_launch_flows);
    std::string_view text = block.text.view();
    auto place = [&](std::size_t at) { return block.offset + static_cast<std::int64_t>(at); };
    result.end = place(text.size());
    looking_left_ = text.size() + kMostLooking;
    for (std::size_t at = 1;;) {
      std::size_t begin = skip_space(text, at);
      if (begin >= text.size()) return;
      if (text[begin] == ']') return close(block, begin + 1, result);
      if (text[begin] == ',') {
        at = begin + 1;
        continue;
      }
      std::size_t end = end_of(text, begin);
      std::size_t separator = end == kNowhere ? kNowhere : skip_space(text, end);
      bool whole = separator != kNowhere && end > begin &&
                   (separator == text.size() || text[separator] == ',' || text[separator] == ']');
      std::string_view why = "its brackets or quotes do not match";
      if (whole) {
        if (!read_one(text.substr(begin, end - begin), filing, result.part, why))
          malformed(result.part, place(begin), why);
        at = separator;
        continue;
      }
      if (!block.last && !input_.careful) {
        // The block's guessed end may cut a good record.
        result.guess_failed = true;
        return;
      }
      std::size_t next = resynchronize(text, begin, filing, result.part);
      if (next == kNowhere && block.last) {
        result.cut_record = place(begin);
        return;
      }
      malformed(result.part, place(begin), why);
      if (next == kNowhere) return;
      at = next;
    }
  }

  /// value_end(); also kNowhere when the limit kMostLooking is used up.
  std::size_t end_of(std::string_view text, std::size_t begin) {
    if (looking_left_ == 0) return kNowhere;
    std::size_t end = value_end(text, begin);
    looking_left_ -= std::min(looking_left_, std::min(end, text.size()) - begin);
    return end;
  }

  /// Finds the first readable record after `from` and files it. Returns the place behind it; kNowhere
  /// when there is none.
  std::size_t resynchronize(std::string_view text, std::size_t from, Filing& filing, Part& part) {
    for (std::size_t comma = guess_boundary_after(text, from); comma != kNowhere;
         comma = guess_boundary_after(text, comma + 1)) {
      std::size_t begin = skip_space(text, comma + 1);
      std::size_t end = end_of(text, begin);
      if (end == kNowhere) continue;
      std::string_view why;
      if (read_one(text.substr(begin, end - begin), filing, part, why)) return end;
    }
    return kNowhere;
  }

  bool read_one(std::string_view record, Filing& filing, Part& part, std::string_view& why) {
    auto attempt = [&] {
      std::size_t size = scratch_.size();
      scratch_.append(kPadding, ' ');
      Parser::Result read = parser_.read_array({scratch_.data(), size}, filing);
      if (read.outcome == Parser::Outcome::kFailed) why = parser_.failure();
      if (read.unusable) why = "it has no phase or no valid time";
      part.records += read.filed;
      return read.outcome == Parser::Outcome::kWhole && read.unusable == 0;
    };
    scratch_.assign("[").append(record).append("]");
    if (attempt()) return true;
    // Kineto writes names and args unescaped: with control characters and bytes that are not UTF-8.
    scratch_.assign("[");
    if (!append_repaired(record)) return false;
    scratch_.append("]");
    if (!attempt()) return false;
    count(part.losses, Loss::kRepairedText);
    return true;
  }

  /// Appends the record with control characters replaced by spaces and invalid bytes by '?'. False when
  /// there is nothing to repair.
  bool append_repaired(std::string_view record) {
    bool repaired = false;
    for (std::size_t i = 0; i < record.size();) {
      auto c = static_cast<unsigned char>(record[i]);
      std::size_t length = c < 0x80   ? 1
                           : c < 0xc2 ? 0
                           : c < 0xe0 ? 2
                           : c < 0xf0 ? 3
                           : c < 0xf5 ? 4
                                      : 0;
      bool good = length > 0 && i + length <= record.size();
      for (std::size_t k = 1; good && k < length; ++k)
        good = (static_cast<unsigned char>(record[i + k]) & 0xc0) == 0x80;
      // Overlong forms and surrogates begin like valid characters.
      if (good && length > 2) {
        auto second = static_cast<unsigned char>(record[i + 1]);
        good = !(c == 0xe0 && second < 0xa0) && !(c == 0xed && second > 0x9f) &&
               !(c == 0xf0 && second < 0x90) && !(c == 0xf4 && second > 0x8f);
      }
      if (!good) {
        scratch_ += '?';
        repaired = true;
        ++i;
      } else if (c < 0x20) {
        scratch_ += ' ';
        repaired = true;  // harmless between tokens; inside a text it is the fault
        ++i;
      } else {
        scratch_.append(record.substr(i, length));
        i += length;
      }
    }
    return repaired;
  }

  const EventsInput& input_;
  Parser parser_;
  std::string scratch_;
  std::size_t looking_left_ = 0;
};

/// State that the threads share.
struct Work {
  std::mutex mutex;
  std::vector<BlockResult> results;
  std::exception_ptr failure;
  std::atomic<bool> stop = false;
};

void run(const EventsInput& input, Splitter& splitter, Work& work, bool reports) {
  try {
    BlockReader reader(input);
    Block block;
    while (!work.stop && splitter.next(block)) {
      BlockResult result = reader.read(block);
      if (result.closed || result.guess_failed) work.stop = true;
      {
        std::lock_guard lock(work.mutex);
        work.results.push_back(std::move(result));
      }
      if (reports && input.progress) input.progress(splitter.fraction());
    }
  } catch (...) {
    std::lock_guard lock(work.mutex);
    if (!work.failure) work.failure = std::current_exception();
    work.stop = true;
  }
}

}  // namespace

Events read_events(EventsInput input) {
  Splitter splitter(input.source, std::move(input.first), input.offset, input.careful,
                    input.file_name);
  Work work;
  std::vector<std::thread> helpers;
  for (int i = 1; i < input.threads; ++i)
    helpers.emplace_back([&] { run(input, splitter, work, false); });
  run(input, splitter, work, true);
  for (std::thread& helper : helpers) helper.join();
  if (work.failure) std::rethrow_exception(work.failure);

  std::sort(work.results.begin(), work.results.end(),
            [](const BlockResult& a, const BlockResult& b) { return a.index < b.index; });
  Events events;
  for (BlockResult& result : work.results) {
    if (result.guess_failed) {
      events.guess_failed = true;
      return events;
    }
    events.parts.push_back(std::move(result.part));
    events.end = result.end;
    events.cut_record = result.cut_record;
    if (result.closed) {
      // Blocks that other threads read behind the array's end are not part of the array.
      events.closed = true;
      events.tail = std::move(result.tail);
      events.whole_tail = result.last;
      return events;
    }
  }
  return events;
}

}  // namespace headway::trace::kineto
