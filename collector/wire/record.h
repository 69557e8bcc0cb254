// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/wire/layout.h"

/// The content of a ring: Records of one unit, each followed by its `extra_units`. These hold, in
/// this order and each padded to 8 bytes: Attributes (kHasAttributes), the text (kTextInline), and
/// the payload blobs (PayloadKind::kBlobs).
namespace headway::wire {

enum class RecordType : std::uint8_t {
  kThreadBegin = 1,  ///< `value` is the tid; records up to the next kThreadBegin are this thread's
  kThreadEnd = 2,
  kPush = 3,
  kPop = 4,
  kMark = 5,
  kStart = 6,  ///< `value` is the range id
  kEnd = 7,    ///< `value` is the range id
  kIo = 8,     ///< a call on a file, see io.h
  /// `value` 1: cudaProfilerStart has returned, 0: cudaProfilerStop is called
  kCapture = 9,
  /// A sample of a counter: `value` is its id. PayloadKind::kInt64 or kDouble: the sample is in
  /// `text` and `color`, lower half first. kTextInline: it is the text, laid out by its schema.
  kCounter = 10,
};

enum RecordFlag : std::uint8_t {
  kTextInline = 1,  ///< `text` is the length in bytes of the text that follows
  kTextHandle = 2,  ///< `text` is the id of a string definition
  kHasColor = 4,
  kHasAttributes = 8,  ///< category and payload are in the Attributes that follow
  kCut = 16,           ///< text or payload was longer than the limit and is cut
};

/// How to read the payload value; stored in the upper three bits of `flags`.
enum class PayloadKind : std::uint8_t {
  kNone = 0,
  kUint64 = 1,
  kInt64 = 2,
  kDouble = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat = 6,
  kBlobs = 7,  ///< extended payloads: the value is the size in bytes of the blobs that follow
};
inline constexpr unsigned kPayloadShift = 5;

/// One event: 32 bytes, and the units behind it. The meaning of the fields depends on `type`.
struct Record {
  std::uint64_t time;         ///< in the segment's Clock
  std::uint8_t type;          ///< RecordType
  std::uint8_t flags;         ///< RecordFlag, and PayloadKind from kPayloadShift on
  std::uint16_t extra_units;  ///< units behind it, limited by kMaxText and kMaxBlobs
  std::uint16_t domain;       ///< index of the NVTX domain; 0: the default one
  std::uint16_t category;     ///< NVTX's category; in an I/O record: io_category()
  std::uint32_t text;         ///< length or id, by the flags
  std::uint32_t color;        ///< ARGB
  std::uint64_t value;        ///< payload value, or as RecordType says
};
static_assert(sizeof(Record) == kUnit);

/// For the rare event that does not fit into a Record: a category over 65535, or a start or end of
/// a range with a payload.
struct Attributes {
  std::uint64_t payload;  ///< read by the PayloadKind in the record's flags
  std::uint32_t category;
  std::uint32_t reserved[5];
};
static_assert(sizeof(Attributes) == kUnit);

/// One extended payload; its bytes follow, padded to 8.
struct BlobHeader {
  std::uint64_t schema;  ///< its id in the record's domain
  std::uint32_t bytes;   ///< without the padding
  std::uint32_t reserved;
};
static_assert(sizeof(BlobHeader) == 16);

/// Limits in bytes; longer texts and payloads are cut and marked. A record with the longest text
/// and payload fits into the smallest ring.
inline constexpr std::uint32_t kMaxText = 16 * kKiB;
inline constexpr std::uint32_t kMaxBlobs = 16 * kKiB;

/// Units that only ends may use, so that a ring filled by pushes still takes the ends of start/end
/// ranges and the thread's own end.
inline constexpr std::uint32_t kEndReserve = 64;

/// The next multiple of 8.
constexpr std::uint32_t padded(std::uint32_t bytes) {
  return (bytes + 7) & ~std::uint32_t{7};
}
/// The number of units that hold this many bytes.
constexpr std::uint32_t units_for(std::uint32_t bytes) {
  return (bytes + kUnit - 1) / kUnit;
}

}  // namespace headway::wire
