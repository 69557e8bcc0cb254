// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/wire/layout.h"

/// What travels through a ring: a Record of one unit, followed by `extra_units` that hold, in this
/// order and each padded to 8 bytes: Attributes (kHasAttributes), the text (kTextInline), and the
/// payload blobs (PayloadKind::kBlobs).
namespace headway::wire {

enum class RecordType : std::uint8_t {
  kThreadBegin = 1,  ///< `value` is the tid; the records up to the next one are of this thread
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
  kCut = 16,           ///< text or payload was over the limit
};

/// In the upper three bits of `flags`: how to read the payload value.
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

/// One event: 32 bytes, and the units behind it. What the fields mean depends on `type`.
struct Record {
  std::uint64_t time;         ///< in the segment's Clock
  std::uint8_t type;          ///< RecordType
  std::uint8_t flags;         ///< RecordFlag, and PayloadKind from kPayloadShift on
  std::uint16_t extra_units;  ///< behind it, up to kMaxText and kMaxBlobs
  std::uint16_t domain;       ///< index of the NVTX domain; 0: the default one
  std::uint16_t category;     ///< NVTX's; an I/O record: io_category()
  std::uint32_t text;         ///< length or id, by the flags
  std::uint32_t color;        ///< ARGB
  std::uint64_t value;        ///< payload value, or what the type says
};
static_assert(sizeof(Record) == kUnit);

/// For the rare event that does not fit: a category over 65535, or a start range with a payload.
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

/// Longer texts and payloads are cut and marked. Together with the record they fit the smallest
/// ring several times.
inline constexpr std::uint32_t kMaxText = 16 * kKiB;
inline constexpr std::uint32_t kMaxBlobs = 16 * kKiB;

/// Units that only ends may use, so that a ring filled by pushes still takes the ends of start/end
/// ranges and the thread's own end.
inline constexpr std::uint32_t kEndReserve = 64;

/// The next multiple of 8.
constexpr std::uint32_t padded(std::uint32_t bytes) {
  return (bytes + 7) & ~std::uint32_t{7};
}
/// Units that hold so many bytes.
constexpr std::uint32_t units_for(std::uint32_t bytes) {
  return (bytes + kUnit - 1) / kUnit;
}

}  // namespace headway::wire
