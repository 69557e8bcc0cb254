// SPDX-License-Identifier: MIT
// Payloads of NVTX under arbitrary schemas: what a program registers and sends is decoded, as JSON and as
// one of the conventions, or left out; the JSON can be read. The input is the body of a schema's definition
// (length first), then the payload.
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collector/record/decode/definitions.h"
#include "common/nvtx_conventions.h"
#include "tests/fuzz/target.h"
#include "trace/payload.h"

namespace headway::record {
namespace {

void add(std::vector<std::byte>& log, wire::DefinitionType type, std::uint64_t id,
         std::span<const std::byte> body) {
  wire::DefinitionHeader header{};
  header.bytes = static_cast<std::uint32_t>(sizeof header + body.size());
  header.type = static_cast<std::uint16_t>(type);
  header.domain = 1;
  header.id = id;
  const auto* bytes = reinterpret_cast<const std::byte*>(&header);
  log.insert(log.end(), bytes, bytes + sizeof header);
  log.insert(log.end(), body.begin(), body.end());
}

void add_domain(std::vector<std::byte>& log) {
  std::byte body[64];
  wire::DefinitionWriter writer(body, sizeof body);
  writer.text(conventions::kDomain);
  add(log, wire::DefinitionType::kDomain, 1, {body, writer.size()});
}

TraceSink& sink() {
  // Never destroyed: at exit, what it writes with is gone.
  static auto& current = *new std::optional<TraceSink>;
  static int uses = 0;
  static const std::string& path = test::file_of(nullptr, 0);
  if (!current || ++uses % 20'000 == 0) {
    if (current) current->finish();
    current.emplace(path, true);
  }
  return *current;
}

void check(const KnownSchema& known, std::span<const std::byte> payload) {
  const std::string json = trace::payload_to_json(known.schema, payload);
  if (!nlohmann::json::accept(json)) std::abort();
  for (const trace::PayloadEntry& entry : known.schema.entries) {
    const trace::PayloadField field = trace::PayloadField::find(known.schema, entry.name);
    const std::size_t count = std::min<std::size_t>(field.count(), 4);
    for (std::size_t i = 0; i <= count; ++i) field.integer(payload, -1, i);
    const std::string_view text = field.text(payload);
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    if (!text.empty() &&
        (begin < payload.data() || begin + text.size() > payload.data() + payload.size()))
      std::abort();
  }
  if (!known.convention) return;
  known.convention->meaning(payload);
  const std::int64_t pid = std::int64_t{42} << 24;
  known.convention->write_mark(payload, {pid, pid | 43, 1000}, sink());
}

}  // namespace
}  // namespace headway::record

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headway::record;
  std::uint16_t length = 0;
  if (size < sizeof length) return 0;
  std::memcpy(&length, data, sizeof length);
  std::span<const std::byte> rest(reinterpret_cast<const std::byte*>(data) + sizeof length,
                                  size - sizeof length);
  const std::size_t body = std::min<std::size_t>(length, rest.size()) / 8 * 8;
  constexpr std::uint64_t kSchema = 1u << 24;
  std::vector<std::byte> log;
  add_domain(log);
  add(log, headway::wire::DefinitionType::kSchema, kSchema, rest.first(body));
  DomainNumbers domains;
  Definitions definitions(std::int64_t{42} << 24, domains, sink());
  if (!definitions.read(log)) return 0;
  if (const KnownSchema* known = definitions.schema(1, kSchema)) {
    check(*known, rest.subspan(body));
    ++headway::test::accepted;
  }
  sink().commit_if_due();
  return 0;
}
