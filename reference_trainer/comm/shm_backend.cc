// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/shm_backend.h"

#include <algorithm>
#include <cstring>

#include "common/error.h"
#include "kernels/half.h"

namespace headway::trainer {
namespace {

/// The terms that are summed, and the rounding of the sum.
float term_of(float value) {
  return value;
}
float term_of(std::uint16_t half) {
  return kernels::from_half(half);
}
template <class T>
T rounded(float sum) {
  if constexpr (sizeof(T) == 2)
    return kernels::to_half(sum);
  else
    return sum;
}

std::size_t longest_part(std::size_t count, int places) {
  return (count + static_cast<std::size_t>(places) - 1) / static_cast<std::size_t>(places);
}
/// At most `most` values of a place's part, from its element `first` on.
template <class T>
std::span<T> piece_of(std::span<T> values, int place, int places, std::size_t first,
                      std::size_t most) {
  const Part part = part_of(values.size(), place, places);
  const std::size_t begin = std::min(part.begin + first, part.end);
  return values.subspan(begin, std::min(most, part.end - begin));
}

}  // namespace

ShmBackend::ShmBackend(std::shared_ptr<SharedMemory> shared, int rank, int ranks_per_node,
                       std::chrono::nanoseconds timeout, std::size_t message_piece)
    : shared_(std::move(shared)),
      rank_(rank),
      per_node_(ranks_per_node),
      timeout_(timeout),
      message_piece_(message_piece) {}

ShmBackend::Members ShmBackend::members(Scope scope) const {
  const int all = shared_->ranks();
  const int node = rank_ / per_node_;
  Members result;
  int first = 0;
  int end = all;
  int step = 1;
  if (scope == Scope::kNode) {
    result.meeting = 1 + node;
    first = node * per_node_;
    end = std::min(all, first + per_node_);
  } else if (scope == Scope::kAcross) {
    first = rank_ % per_node_;
    result.meeting = 1 + all + first;
    step = per_node_;
  }
  for (int rank = first; rank < end; rank += step) {
    if (rank == rank_) result.place = static_cast<int>(result.ranks.size());
    result.ranks.push_back(rank);
  }
  return result;
}

void ShmBackend::meet(const Members& members) {
  if (members.ranks.size() > 1)
    shared_->meet(rank_, members.meeting, static_cast<int>(members.ranks.size()), timeout_);
}

void ShmBackend::barrier() {
  meet(members(Scope::kWorld));
}

/// Works in pieces of the size of a slot. Each member leaves the sum of its part in its own slot;
/// `share_parts`: all members take all parts. Sums are in rank order, so that every member gets the
/// same bits.
template <class T>
void ShmBackend::reduce(const Members& m, std::span<T> values, bool share_parts) {
  constexpr std::size_t kPiece = SharedMemory::kSlotBytes / sizeof(T);
  const int count = static_cast<int>(m.ranks.size());
  auto slot = [&](int place) {
    return reinterpret_cast<T*>(shared_->slot(m.ranks[static_cast<std::size_t>(place)]));
  };
  for (std::size_t first = 0; first < values.size(); first += kPiece) {
    const std::span<T> piece = values.subspan(first, std::min(kPiece, values.size() - first));
    std::memcpy(slot(m.place), piece.data(), piece.size_bytes());
    meet(m);
    const Part own = part_of(piece.size(), m.place, count);
    for (std::size_t i = own.begin; i < own.end; ++i) {
      float sum = 0;
      for (int place = 0; place < count; ++place) sum += term_of(slot(place)[i]);
      piece[i] = rounded<T>(sum);
    }
    meet(m);  // no member reads the terms any more
    if (!share_parts) continue;
    std::memcpy(slot(m.place) + own.begin, piece.data() + own.begin,
                (own.end - own.begin) * sizeof(T));
    meet(m);
    for (int place = 0; place < count; ++place) {
      const Part part = part_of(piece.size(), place, count);
      std::memcpy(piece.data() + part.begin, slot(place) + part.begin,
                  (part.end - part.begin) * sizeof(T));
    }
    meet(m);
  }
}

void ShmBackend::all_reduce(Scope scope, std::span<float> values) {
  reduce(members(scope), values, true);
}

void ShmBackend::all_reduce_half(Scope scope, std::span<std::uint16_t> values) {
  reduce(members(scope), values, true);
}

void ShmBackend::all_gather(std::span<std::byte> all) {
  const Members m = members(Scope::kWorld);
  const std::size_t each = all.size() / static_cast<std::size_t>(size());
  const std::span<const std::byte> mine = all.subspan(static_cast<std::size_t>(rank_) * each, each);
  for (std::size_t first = 0; first < mine.size(); first += SharedMemory::kSlotBytes) {
    const std::size_t bytes = std::min(SharedMemory::kSlotBytes, mine.size() - first);
    std::memcpy(shared_->slot(rank_), mine.data() + first, bytes);
    meet(m);
    for (int rank = 0; rank < size(); ++rank)
      std::memcpy(all.data() + static_cast<std::size_t>(rank) * each + first, shared_->slot(rank),
                  bytes);
    meet(m);
  }
}

/// Works in pieces of all parts at once, each at its place in the slot.
void ShmBackend::all_to_all(std::span<std::byte> parts) {
  const Members m = members(Scope::kWorld);
  const auto ranks = static_cast<std::size_t>(size());
  const auto own = static_cast<std::size_t>(rank_);
  const std::size_t each = parts.size() / ranks;
  const std::size_t room = SharedMemory::kSlotBytes / ranks;
  for (std::size_t first = 0; first < each; first += room) {
    const std::size_t bytes = std::min(room, each - first);
    for (std::size_t to = 0; to < ranks; ++to)
      std::memcpy(shared_->slot(rank_) + to * room, parts.data() + to * each + first, bytes);
    meet(m);
    for (std::size_t from = 0; from < ranks; ++from)
      std::memcpy(parts.data() + from * each + first,
                  shared_->slot(static_cast<int>(from)) + own * room, bytes);
    meet(m);
  }
}

/// Parts are those of the whole message. Works in rounds: in each, all members send a piece of
/// every part, at its owner's place in their slot, and every owner adds up its pieces.
template <class T>
void ShmBackend::scatter_sums(Scope scope, std::span<T> values) {
  const Members m = members(scope);
  const int count = static_cast<int>(m.ranks.size());
  const std::size_t room = SharedMemory::kSlotBytes / sizeof(T) / m.ranks.size();
  auto slot = [&](int place) {
    return reinterpret_cast<T*>(shared_->slot(m.ranks[static_cast<std::size_t>(place)]));
  };
  for (std::size_t first = 0; first < longest_part(values.size(), count); first += room) {
    for (int owner = 0; owner < count; ++owner) {
      const std::span<T> piece = piece_of(values, owner, count, first, room);
      std::copy(piece.begin(), piece.end(), slot(m.place) + room * static_cast<std::size_t>(owner));
    }
    meet(m);
    const std::span<T> own = piece_of(values, m.place, count, first, room);
    for (std::size_t i = 0; i < own.size(); ++i) {
      float sum = 0;
      for (int place = 0; place < count; ++place)
        sum += term_of(slot(place)[room * static_cast<std::size_t>(m.place) + i]);
      own[i] = rounded<T>(sum);
    }
    meet(m);
  }
}

/// In each round, every member sends a piece of its part in its slot.
template <class T>
void ShmBackend::gather_parts(Scope scope, std::span<T> values) {
  const Members m = members(scope);
  const int count = static_cast<int>(m.ranks.size());
  constexpr std::size_t kPiece = SharedMemory::kSlotBytes / sizeof(T);
  auto slot = [&](int place) {
    return reinterpret_cast<T*>(shared_->slot(m.ranks[static_cast<std::size_t>(place)]));
  };
  for (std::size_t first = 0; first < longest_part(values.size(), count); first += kPiece) {
    const std::span<T> own = piece_of(values, m.place, count, first, kPiece);
    std::copy(own.begin(), own.end(), slot(m.place));
    meet(m);
    for (int owner = 0; owner < count; ++owner) {
      const std::span<T> piece = piece_of(values, owner, count, first, kPiece);
      if (owner != m.place) std::copy_n(slot(owner), piece.size(), piece.begin());
    }
    meet(m);
  }
}

void ShmBackend::reduce_scatter(Scope scope, std::span<float> values) {
  scatter_sums(scope, values);
}

void ShmBackend::reduce_scatter_half(Scope scope, std::span<std::uint16_t> values) {
  scatter_sums(scope, values);
}

void ShmBackend::all_gather_parts(Scope scope, std::span<float> values) {
  gather_parts(scope, values);
}

void ShmBackend::all_gather_parts_half(Scope scope, std::span<std::uint16_t> values) {
  gather_parts(scope, values);
}

void ShmBackend::reduce_through_server(std::span<float> values) {
  const Members m = members(Scope::kWorld);
  constexpr std::size_t kPiece = SharedMemory::kSlotBytes / sizeof(float);
  auto slot = [&](int rank) { return reinterpret_cast<float*>(shared_->slot(rank)); };
  for (std::size_t first = 0; first < values.size(); first += kPiece) {
    const std::span<float> piece = values.subspan(first, std::min(kPiece, values.size() - first));
    std::memcpy(slot(rank_), piece.data(), piece.size_bytes());
    meet(m);
    if (rank_ == 0) {
      for (std::size_t i = 0; i < piece.size(); ++i) {
        float sum = 0;
        for (int rank = 0; rank < size(); ++rank) sum += slot(rank)[i];
        piece[i] = sum;
      }
      std::memcpy(slot(0), piece.data(), piece.size_bytes());
    }
    meet(m);
    std::memcpy(piece.data(), slot(0), piece.size_bytes());
    meet(m);
  }
}

}  // namespace headway::trainer
