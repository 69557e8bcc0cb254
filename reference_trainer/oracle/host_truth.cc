// SPDX-License-Identifier: MIT
#include "reference_trainer/oracle/host_truth.h"

#include <algorithm>

namespace headway::trainer {

using conventions::DeviceCallKind;
using conventions::RangeKind;

namespace {

bool synchronises(DeviceCallKind kind) {
  return kind == DeviceCallKind::kCopyBlocking || kind == DeviceCallKind::kEventSynchronize ||
         kind == DeviceCallKind::kStreamSynchronize || kind == DeviceCallKind::kDeviceSynchronize;
}

TruthClass class_of_call(DeviceCallKind kind) {
  if (kind == DeviceCallKind::kAllocate || kind == DeviceCallKind::kFree)
    return TruthClass::kAllocator;
  return synchronises(kind) ? TruthClass::kHostSync : TruthClass::kLaunchGap;
}

}  // namespace

HostTruth::HostTruth(const sim::Recording& recording) {
  for (const sim::Call& call : recording.calls) {
    const std::int64_t waited = call.start + call.waited;
    const bool frees = call.kind == DeviceCallKind::kFree;
    if (call.waited > 0)
      calls_.push_back(
          {call.start, waited, frees ? TruthClass::kAllocator : TruthClass::kHostSync});
    calls_.push_back({waited, call.end, class_of_call(call.kind)});
  }
  for (const sim::RangeRecord& range : recording.ranges) {
    const auto kind = static_cast<RangeKind>(range.payload.kind);
    const std::int64_t batch = range.payload.batch;
    if (kind == RangeKind::kInputWait) {
      waits_.push_back({range.start, range.end, TruthClass::kInputOther, batch});
    } else if (kind == RangeKind::kOp || range.nccl) {
      ops_.push_back({range.start, range.end, TruthClass::kLaunchGap});
    } else if (batch >= 0 && (kind == RangeKind::kRead || kind == RangeKind::kDecode ||
                              kind == RangeKind::kAugment)) {
      if (stages_.size() <= static_cast<std::size_t>(batch)) stages_.resize(batch + 1);
      stages_[static_cast<std::size_t>(batch)].push_back(
          {range.start, range.end,
           kind == RangeKind::kRead ? TruthClass::kIoRead : TruthClass::kDecode});
    }
  }
  auto by_start = [](std::vector<Piece>& pieces) {
    std::ranges::stable_sort(pieces, {}, &Piece::start);
  };
  by_start(waits_);
  by_start(ops_);
}

/// Walks disjoint pieces sorted by start: `inside(begin, end, piece)`, `outside(begin, end)`.
void HostTruth::charge_pieces(const std::vector<Piece>& pieces, std::int64_t begin,
                              std::int64_t end, const auto& inside, const auto& outside) {
  auto piece = std::ranges::partition_point(pieces, [&](const Piece& p) { return p.end <= begin; });
  while (begin < end) {
    if (piece == pieces.end() || piece->start >= end) return outside(begin, end);
    if (piece->start > begin) {
      outside(begin, piece->start);
      begin = piece->start;
    }
    const std::int64_t until = std::min(end, piece->end);
    if (until > begin) inside(begin, until, *piece);
    begin = std::max(begin, until);
    ++piece;
  }
}

void HostTruth::charge(std::int64_t begin, std::int64_t end, StepTruth& step) const {
  auto add = [&step](std::int64_t from, std::int64_t to, TruthClass truth) {
    step.ns[static_cast<std::size_t>(truth)] += to - from;
  };
  auto in_piece = [&](std::int64_t from, std::int64_t to, const Piece& piece) {
    add(from, to, piece.truth);
  };
  auto in_wait = [&](std::int64_t from, std::int64_t to, const Piece& wait) {
    charge_wait(from, to, wait.batch, step);
  };
  auto no_op = [&](std::int64_t from, std::int64_t to) { add(from, to, TruthClass::kHostOther); };
  auto no_wait = [&](std::int64_t from, std::int64_t to) {
    charge_pieces(ops_, from, to, in_piece, no_op);
  };
  auto no_call = [&](std::int64_t from, std::int64_t to) {
    charge_pieces(waits_, from, to, in_wait, no_wait);
  };
  charge_pieces(calls_, begin, end, in_piece, no_call);
}

void HostTruth::charge_wait(std::int64_t begin, std::int64_t end, std::int64_t batch,
                            StepTruth& step) const {
  auto add = [&step](std::int64_t from, std::int64_t to, TruthClass truth) {
    step.ns[static_cast<std::size_t>(truth)] += to - from;
  };
  static const std::vector<Piece> kNone;
  const auto& stages = static_cast<std::size_t>(batch) < stages_.size()
                           ? stages_[static_cast<std::size_t>(batch)]
                           : kNone;
  charge_pieces(
      stages, begin, end,
      [&](std::int64_t from, std::int64_t to, const Piece& stage) { add(from, to, stage.truth); },
      [&](std::int64_t from, std::int64_t to) { add(from, to, TruthClass::kInputOther); });
}

}  // namespace headway::trainer
