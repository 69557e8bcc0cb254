// SPDX-License-Identifier: MIT
#include "collector/record/decode/record_view.h"

namespace headway::record {

std::optional<RecordView> next_record(std::span<const std::byte>& rest) {
  RecordView view;
  if (rest.size() < sizeof view.record) return std::nullopt;
  std::memcpy(&view.record, rest.data(), sizeof view.record);
  const wire::Record& record = view.record;
  std::size_t bytes = (std::size_t{1} + record.extra_units) * wire::kUnit;
  if (bytes > rest.size()) return std::nullopt;
  std::span<const std::byte> extra = rest.subspan(wire::kUnit, bytes - wire::kUnit);
  rest = rest.subspan(bytes);

  view.category = record.category;
  view.payload_kind = static_cast<wire::PayloadKind>(record.flags >> wire::kPayloadShift);
  view.payload = record.value;
  if (record.flags & wire::kHasAttributes) {
    wire::Attributes attributes;
    if (extra.size() < sizeof attributes) return std::nullopt;
    std::memcpy(&attributes, extra.data(), sizeof attributes);
    extra = extra.subspan(sizeof attributes);
    view.category = attributes.category;
    view.payload = attributes.payload;
  }
  if (record.flags & wire::kTextInline) {
    if (record.text > wire::kMaxText || wire::padded(record.text) > extra.size())
      return std::nullopt;
    view.text = {reinterpret_cast<const char*>(extra.data()), record.text};
    extra = extra.subspan(wire::padded(record.text));
  }
  view.rest = extra;
  if (view.payload_kind == wire::PayloadKind::kBlobs) {
    if (view.payload > extra.size()) return std::nullopt;
    view.blobs = extra.first(view.payload);
  }
  return view;
}

}  // namespace headway::record
