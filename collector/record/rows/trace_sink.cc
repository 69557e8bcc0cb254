// SPDX-License-Identifier: MIT
#include "collector/record/rows/trace_sink.h"

namespace headway::record {
namespace {

constexpr std::int64_t kCommitRows = 20'000;
constexpr std::chrono::milliseconds kCommitInterval{200};
constexpr std::int64_t kIndexEntryBytes = 14;

}  // namespace

void TraceSink::fail(const std::string& reason, std::int64_t rows) {
  failure_ = reason;
  rows_lost_ += uncommitted_ + rows;
  uncommitted_ = 0;
  try {
    writer_.drop_uncommitted();
  } catch (const Error&) {  // the first error is the reason that counts
  }
}

void TraceSink::commit() {
  last_commit_ = Clock::now();
  guarded(0, [&] {
    writer_.commit();
    uncommitted_ = 0;
    stored_bytes_ = writer_.stored_bytes();
  });
}

std::int64_t TraceSink::bytes() const {
  return stored_bytes_ + static_cast<std::int64_t>(indexed_) * kIndexEntryBytes;
}

void TraceSink::commit_if_due() {
  if (!failure_.empty()) return;
  if (uncommitted_ >= kCommitRows || Clock::now() - last_commit_ >= kCommitInterval) commit();
}

void TraceSink::finish() {
  if (failure_.empty()) {
    commit();
    guarded(0, [&] { writer_.finish(); });
    if (failure_.empty()) return;
  }
  // Little is left to write, and the rolled-back transaction has freed room for it in the log.
  if (rows_lost_ > 0) count_loss(trace::Loss::kDiskFull, rows_lost_);
  try {
    writer_.finish(trace::TraceWriter::Indexes::kSkip);
  } catch (const Error&) {  // the file stays as it was last committed, marked as cut
  }
}

}  // namespace headway::record
