// SPDX-License-Identifier: MIT
#include "trace/payload.h"

#include <doctest/doctest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "common/nvtx_conventions.h"
#include "tests/support/property.h"

namespace headway::trace {
namespace {

constexpr std::uint64_t kUint32 = 16;
constexpr std::uint64_t kInt64 = 17;
constexpr std::uint64_t kDouble = 20;
constexpr std::uint64_t kCString = 75;
constexpr std::uint64_t kFixedArray = 1 << 4;

PayloadEntry entry(std::string name, std::uint64_t type, std::uint64_t offset = 0,
                   std::uint64_t array = 0, std::uint64_t flags = 0) {
  return {flags, type, std::move(name), "", array, offset};
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

TEST_CASE("fields are found by name at given or natural offsets") {
  struct {
    std::uint32_t kind = 7;
    std::int64_t op = -3;
    double share = 0.5;
    char name[8] = "conv1";
    std::int64_t inputs[3] = {4, 5, 6};
  } payload;
  PayloadSchema schema{1,
                       "s",
                       1,
                       0,
                       sizeof payload,
                       0,
                       {entry("kind", kUint32), entry("op", kInt64), entry("share", kDouble),
                        entry("name", kCString, 0, 8), entry("inputs", kInt64, 0, 3, kFixedArray)}};
  auto bytes = bytes_of(payload);
  CHECK(PayloadField::find(schema, "kind").integer(bytes, -1) == 7);
  CHECK(PayloadField::find(schema, "op").integer(bytes, -1) == -3);
  CHECK(PayloadField::find(schema, "share").integer(bytes, -1) == 0);
  CHECK(PayloadField::find(schema, "name").text(bytes) == "conv1");
  CHECK(PayloadField::find(schema, "inputs").integer(bytes, -1, 2) == 6);
  CHECK(PayloadField::find(schema, "inputs").integer(bytes, -1, 3) == -1);
  CHECK(!PayloadField::find(schema, "absent").valid());
  auto json = nlohmann::json::parse(payload_to_json(schema, bytes));
  CHECK(json["name"] == "conv1");
  CHECK(json["inputs"] == nlohmann::json({4, 5, 6}));
}

TEST_CASE("a short payload gives fallbacks and null, never what lies behind it") {
  PayloadSchema schema{1, "s", 1, 0, 16, 0, {entry("a", kInt64, 0), entry("b", kInt64, 8)}};
  std::int64_t value = 5;
  auto bytes = bytes_of(value);
  CHECK(PayloadField::find(schema, "a").integer(bytes, -1) == 5);
  CHECK(PayloadField::find(schema, "b").integer(bytes, -1) == -1);
  CHECK(payload_to_json(schema, bytes) == R"({"a":5,"b":null})");
}

namespace {

/// Schemas 1 << 24 and on, which may refer to each other, and one enumeration.
struct References final : PayloadReferences {
  std::vector<PayloadSchema> schemas;
  PayloadEnum enumerators;
  std::string text = "registered";
  static constexpr std::uint64_t kFirst = 1u << 24;
  const PayloadSchema* schema(std::uint64_t id) const override {
    return id >= kFirst && id - kFirst < schemas.size() ? &schemas[id - kFirst] : nullptr;
  }
  const PayloadEnum* enumeration(std::uint64_t id) const override {
    return id == kFirst + 100 ? &enumerators : nullptr;
  }
  const std::string* registered_text(std::uint64_t handle) const override {
    return handle % 2 ? &text : nullptr;
  }
};

}  // namespace

TEST_CASE("any schema on any payload is decoded without reading outside, and makes valid JSON") {
  test::check_property("hostile schemas", [](const std::string& raw) {
    References references;
    references.enumerators = {"e",
                              *rc::gen::element<std::size_t>(0, 1, 2, 4, 8),
                              {{"one", 1, false}, {"bit", 2, true}, {"other", 4, true}}};
    references.schemas.resize(3);
    for (PayloadSchema& schema : references.schemas) {
      schema.type = *rc::gen::inRange<std::uint64_t>(0, 5);
      schema.align = *rc::gen::element<std::uint64_t>(0, 0, 1, 4, UINT64_MAX);
      schema.static_size = *rc::gen::element<std::uint64_t>(0, 0, 1, 24, UINT64_MAX);
      int count = *rc::gen::inRange(0, 6);
      for (int i = 0; i < count; ++i) {
        std::uint64_t type = *rc::gen::inRange<std::uint64_t>(0, 94);
        if (type >= 90)
          type = type == 93 ? References::kFirst + 100 : References::kFirst + type - 90;
        schema.entries.push_back(
            {*rc::gen::arbitrary<std::uint8_t>(), type, "f" + std::to_string(i), "",
             *rc::gen::element<std::uint64_t>(0, 1, 3, 64, UINT64_MAX, std::uint64_t{1} << 61),
             *rc::gen::element<std::uint64_t>(0, 0, 1, 8, 100, UINT64_MAX, UINT64_MAX - 7)});
      }
    }
    auto bytes = std::as_bytes(std::span(raw));
    const PayloadBlob event[] = {{References::kFirst, bytes},
                                 {*rc::gen::inRange<std::uint64_t>(0, 90), bytes}};
    for (const PayloadSchema& schema : references.schemas) {
      for (const PayloadEntry& e : schema.entries) {
        PayloadField field = PayloadField::find(schema, e.name);
        field.integer(bytes, 0);
        field.integer(bytes, 0, 1000);
        field.number(bytes);
        RC_ASSERT(field.text(bytes).size() <= raw.size());
      }
      std::string json = payload_to_json(schema, bytes, &references, event);
      RC_ASSERT(nlohmann::json::accept(json.begin(), json.end()));
      json = payload_to_json(schema, bytes);
      RC_ASSERT(nlohmann::json::accept(json.begin(), json.end()));
    }
  });
}

TEST_CASE("numbers of 16 and 128 bits, texts of UTF-16 and pointers") {
  struct {
    std::uint16_t half = 0xc100;   // -2.5
    std::uint16_t brain = 0x3fc0;  // 1.5
    char16_t wide[4] = {u'h', u'\u00e4', 0xd83d, 0xde00};
    std::uint32_t padding = 0;
    unsigned __int128 large = static_cast<unsigned __int128>(1) << 100;
    const char* pointer = "not in the payload";
  } payload;
  PayloadSchema schema;
  schema.type = 1;
  schema.entries = {entry("half", 42, 0), entry("brain", 50, 2), entry("wide", 77, 4, 4),
                    entry("large", 34, 16), entry("pointer", kCString, 32)};
  CHECK(payload_to_json(schema, bytes_of(payload)) ==
        R"({"half":-2.5,"brain":1.5,"wide":"hä😀","large":1267650600228229401496703205376,)"
        R"("pointer":null})");
}

TEST_CASE("our own schemas decode to what was put in") {
  conventions::RangePayload payload{1, 2, 3, 4, 5, 6, 7};
  PayloadSchema schema;
  for (const conventions::Field& field : conventions::kRangeFields) {
    std::uint64_t type = field.type == conventions::FieldType::kUint32 ? kUint32 : kInt64;
    schema.entries.push_back(entry(std::string(field.name), type, field.offset));
  }
  auto bytes = bytes_of(payload);
  CHECK(PayloadField::find(schema, "kind").integer(bytes, 0) == 1);
  CHECK(PayloadField::find(schema, "batch").integer(bytes, 0) == 4);
  CHECK(PayloadField::find(schema, "flops").integer(bytes, 0) == 7);
}

}  // namespace headway::trace
