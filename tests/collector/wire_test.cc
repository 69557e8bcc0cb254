// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "collector/record/decode/record_view.h"
#include "collector/wire/definition.h"
#include "collector/wire/layout.h"
#include "tests/support/property.h"

namespace headway::record {
namespace {

std::vector<std::byte> bytes_of(const std::vector<std::uint8_t>& values) {
  std::vector<std::byte> result;
  for (std::uint8_t value : values) result.push_back(std::byte{value});
  return result;
}

}  // namespace

TEST_CASE("rings lie inside the segment, one behind the other, for every layout") {
  for (const wire::Layout& layout : wire::kLayouts) {
    std::uint64_t next = wire::definitions_offset(layout) + layout.definition_bytes;
    std::uint64_t controls_end =
        wire::kControlOffset + wire::ring_count(layout) * sizeof(wire::RingControl);
    CHECK(controls_end <= wire::definitions_offset(layout));
    for (std::uint32_t ring = 0; ring < wire::ring_count(layout); ++ring) {
      wire::RingPlace place = wire::ring_place(layout, ring);
      REQUIRE(place.offset == next);
      REQUIRE((place.units & (place.units - 1)) == 0);
      next += place.units * wire::kUnit;
    }
    CHECK(next == wire::activity_offset(layout));
    CHECK(wire::ring_place(layout, wire::ring_count(layout)).units == 0);
    // The largest event fits the smallest ring with its reserve.
    std::uint64_t largest =
        1 + wire::units_for(sizeof(wire::Attributes) + wire::kMaxText + wire::kMaxBlobs);
    CHECK(2 * largest + wire::kEndReserve <
          wire::ring_place(layout, wire::ring_count(layout) - 1).units * 2);
  }
}

TEST_CASE("a definition body comes back, and short or damaged ones read as nothing") {
  std::vector<std::byte> buffer(256);
  wire::DefinitionWriter counter;
  auto write = [](wire::DefinitionWriter& out) {
    out.number(7);
    out.text("hello");
    out.text("");
    out.number(8);
  };
  write(counter);
  wire::DefinitionWriter writer(buffer.data(), buffer.size());
  write(writer);
  CHECK(writer.size() == counter.size());
  wire::DefinitionReader reader{std::span<const std::byte>(buffer).first(writer.size())};
  CHECK(reader.number() == 7);
  CHECK(reader.text() == "hello");
  CHECK(reader.text().empty());
  CHECK(reader.number() == 8);
  CHECK(reader.ok());
  CHECK(reader.number() == 0);
  CHECK(!reader.ok());
  for (std::size_t size = 0; size < writer.size(); ++size) {
    wire::DefinitionReader cut{std::span<const std::byte>(buffer).first(size)};
    cut.number();
    cut.text();
    cut.text();
    cut.number();
    CHECK(!cut.ok());
  }
}

TEST_CASE("records of any content are read within their bounds or refused") {
  test::check_property(
      "no record reaches beyond its bytes", [](const std::vector<std::uint8_t>& v) {
        std::vector<std::byte> data = bytes_of(v);
        std::span<const std::byte> rest(data);
        while (!rest.empty()) {
          std::size_t before = rest.size();
          std::optional<RecordView> view = next_record(rest);
          if (!view) break;
          RC_ASSERT(rest.size() < before);
          for (char c : view->text) RC_ASSERT(c == c);  // touches every byte: a sanitizer watches
          for_each_blob(view->blobs, [](std::uint64_t, std::span<const std::byte> blob) {
            for (std::byte b : blob) RC_ASSERT(b == b);
          });
        }
      });
}

TEST_CASE("random but plausible records are read within their bounds or refused") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> data((1 + random() % 6) * wire::kUnit);
    for (std::byte& b : data) b = std::byte(random());
    wire::Record record{};
    record.type = static_cast<std::uint8_t>(1 + random() % 8);
    record.flags = static_cast<std::uint8_t>(random());
    record.extra_units = static_cast<std::uint16_t>(random() % 6);
    record.text = static_cast<std::uint32_t>(random() % 200);
    record.value = random() % 200;
    std::memcpy(data.data(), &record, sizeof record);
    std::span<const std::byte> rest(data);
    std::optional<RecordView> view = next_record(rest);
    if (!view) continue;
    std::size_t sum = view->text.size();
    for_each_blob(view->blobs,
                  [&](std::uint64_t, std::span<const std::byte> blob) { sum += blob.size(); });
    REQUIRE(sum <= data.size());
  }
}

}  // namespace headway::record
