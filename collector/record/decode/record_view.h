// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "collector/wire/record.h"

namespace headway::record {

/// A record and its parts: views into the bytes from which it was read.
struct RecordView {
  wire::Record record;
  std::string_view text;       ///< with kTextInline
  std::uint32_t category = 0;  ///< NVTX's, also when it is in the Attributes
  wire::PayloadKind payload_kind = wire::PayloadKind::kNone;
  std::uint64_t payload = 0;         ///< `payload_kind` says how to read it
  std::span<const std::byte> blobs;  ///< with kBlobs; see for_each_blob
  std::span<const std::byte> rest;   ///< what follows the text
};

/// Removes the next record from `rest`; nullopt when the bytes are not a record. Any content is
/// safe.
std::optional<RecordView> next_record(std::span<const std::byte>& rest);

/// Calls `each(schema, bytes)` for each complete blob.
template <class Each>
void for_each_blob(std::span<const std::byte> blobs, Each each) {
  while (blobs.size() >= sizeof(wire::BlobHeader)) {
    wire::BlobHeader header;
    std::memcpy(&header, blobs.data(), sizeof header);
    blobs = blobs.subspan(sizeof header);
    if (header.bytes > wire::kMaxBlobs || wire::padded(header.bytes) > blobs.size()) return;
    each(header.schema, blobs.first(header.bytes));
    blobs = blobs.subspan(wire::padded(header.bytes));
  }
}

}  // namespace headway::record
