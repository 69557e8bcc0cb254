// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <set>

#include "trace/load/context.h"
#include "trace/load/nccl.h"
#include "trace/payload.h"
#include "trace/tables/nvtx_payload_schema_entries.h"

namespace headway::trace::load_detail {
namespace {

constexpr std::string_view kCommunicatorField = "NCCL communicator ID";

/// Stores a value in the member that the field's name selects.
void set_field(NcclPayload& payload, std::string_view field, std::int64_t value) {
  if (field == kCommunicatorField) {
    payload.communicator = value;
  } else if (field.starts_with("Message size")) {
    payload.bytes = value;
  } else if (field == "No. of ranks") {
    payload.ranks = value;
  } else if (field == "Rank") {
    payload.rank = value;
  } else if (field == "Peer rank" || field == "Root") {
    payload.peer = value;
  }
}

using SchemaKey = std::pair<std::int64_t, std::int64_t>;  ///< domainId, schemaId

std::map<SchemaKey, PayloadSchema> read_schemas(const Context& context) {
  std::map<SchemaKey, PayloadSchema> schemas;
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> seen;
  using Row = tables::NvtxPayloadSchemaEntries::Row;
  sqlite::Select<tables::NvtxPayloadSchemaEntries, &Row::domain_id, &Row::schema_id, &Row::idx,
                 &Row::flags, &Row::type, &Row::entry_name, &Row::array_or_union_detail,
                 &Row::offset>::run(context.db, [&](std::int64_t, const Row& row) {
    // Each process registers the same schemas; the export lists them once per process.
    if (!seen.insert({row.domain_id, row.schema_id, row.idx}).second) return;
    PayloadEntry entry;
    entry.flags = static_cast<std::uint64_t>(row.flags.value_or(0));
    entry.type = static_cast<std::uint64_t>(row.type.value_or(0));
    entry.name = std::string(row.entry_name.value_or(""));
    entry.array_or_union_detail = static_cast<std::uint64_t>(row.array_or_union_detail.value_or(0));
    entry.offset = static_cast<std::uint64_t>(row.offset.value_or(0));
    schemas[{row.domain_id, row.schema_id}].entries.push_back(std::move(entry));
  });
  return schemas;
}

template <class T>
T read_at(std::span<const std::byte> bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// NVTX_EVENTS.binaryData: u32 domain, u32, u32 schema, u32, u64 size of the payload, u64 size of
/// all, then the payload.
std::optional<NcclPayload> decode(const std::map<SchemaKey, PayloadSchema>& schemas,
                                  std::span<const std::byte> blob) {
  constexpr std::size_t kHeader = 32;
  if (blob.size() < kHeader) return std::nullopt;
  auto size = read_at<std::uint64_t>(blob, 16);
  if (size > blob.size() - kHeader) return std::nullopt;
  auto schema = schemas.find({read_at<std::uint32_t>(blob, 0), read_at<std::uint32_t>(blob, 8)});
  if (schema == schemas.end()) return std::nullopt;
  NcclPayload payload;
  for (const PayloadEntry& entry : schema->second.entries) {
    PayloadField field = PayloadField::find(schema->second, entry.name);
    if (field.valid())
      set_field(payload, entry.name,
                field.integer(blob.subspan(kHeader, static_cast<std::size_t>(size)), -1));
  }
  return payload;
}

}  // namespace

std::unordered_map<std::int64_t, NcclPayload> read_nccl_payloads(const Context& context) {
  std::unordered_map<std::int64_t, NcclPayload> payloads;
  std::map<SchemaKey, PayloadSchema> schemas = read_schemas(context);
  std::string domains;
  std::set<std::int64_t> listed;
  for (const auto& [key, schema] : schemas) {
    bool nccl = std::any_of(schema.entries.begin(), schema.entries.end(),
                            [](const PayloadEntry& e) { return e.name == kCommunicatorField; });
    if (nccl && listed.insert(key.first).second)
      domains += fmt::format("{}{}", domains.empty() ? "" : ",", key.first);
  }
  if (domains.empty()) return payloads;
  std::vector<std::string> columns = context.db.columns_of("NVTX_EVENTS");
  auto has = [&](std::string_view name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  if (!has("domainId")) return payloads;
  const std::int64_t first = context.first_row("NVTX_EVENTS");
  if (has("binaryData")) {
    sqlite::Statement statement = context.db.prepare(
        fmt::format("SELECT rowid, CAST(binaryData AS BLOB) FROM NVTX_EVENTS WHERE domainId IN "
                    "({}) AND binaryData IS NOT NULL AND rowid>={}",
                    domains, first));
    while (statement.step()) {
      std::string_view bytes = statement.blob(1);
      if (auto payload = decode(schemas, std::as_bytes(std::span(bytes.data(), bytes.size()))))
        payloads[statement.int64(0)] = *payload;
    }
  }
  for (std::string_view text :
       {std::string_view("jsonText"),
        std::string_view("(SELECT value FROM StringIds WHERE id=jsonTextId)")}) {
    if (!has(text.starts_with('(') ? "jsonTextId" : "jsonText")) continue;
    sqlite::Statement statement = context.db.prepare(fmt::format(
        "SELECT e.id, j.key, j.value FROM (SELECT rowid AS id, {} AS text FROM NVTX_EVENTS WHERE "
        "domainId IN ({}) AND rowid>={}) e, json_tree(CASE WHEN json_valid(e.text) THEN e.text "
        "ELSE '{{}}' END) "
        "j WHERE j.key IS NOT NULL AND j.type IN ('integer','text','real')",
        text, domains, first));
    while (statement.step())
      set_field(payloads[statement.int64(0)], statement.text(1), statement.int64(2));
  }
  return payloads;
}

std::string_view nccl_kind(std::string_view function) {
  struct Name {
    std::string_view function;
    std::string_view kind;
  };
  static constexpr auto kNames = std::to_array<Name>({
      {"ncclAllGather", "allgather"},
      {"ncclAllReduce", "allreduce"},
      {"ncclAllToAll", "alltoall"},
      {"ncclAlltoAll", "alltoall"},
      {"ncclBcast", "broadcast"},
      {"ncclBroadcast", "broadcast"},
      {"ncclGather", "gather"},
      {"ncclRecv", "recv"},
      {"ncclReduce", "reduce"},
      {"ncclReduceScatter", "reducescatter"},
      {"ncclScatter", "scatter"},
      {"ncclSend", "send"},
  });
  for (const Name& name : kNames) {
    if (name.function == function) return name.kind;
  }
  return "";
}

std::int64_t nccl_type_bytes(std::string_view name) {
  if (name.starts_with("nccl")) name.remove_prefix(4);
  if (name == "Half" || name == "Bfloat16") return 2;
  if (name == "Float" || name == "Int") return 4;
  if (name == "Double") return 8;
  if (name == "Char") return 1;
  // "Int8", "Uint64", "Float8e4m3".
  std::size_t digit = name.find_first_of("0123456789");
  if (digit == std::string_view::npos) return 0;
  constexpr std::pair<std::string_view, std::int64_t> kBits[] = {
      {"16", 2}, {"32", 4}, {"64", 8}, {"8", 1}};
  for (const auto& [bits, bytes] : kBits) {
    if (name.substr(digit).starts_with(bits)) return bytes;
  }
  return 0;
}

NcclKernel parse_nccl_kernel(std::string_view name) {
  NcclKernel kernel;
  std::string_view rest;
  for (std::string_view prefix : {"ncclDevKernel_", "ncclKernel_"}) {
    if (name.starts_with(prefix)) rest = name.substr(prefix.size());
  }
  if (rest.empty()) return kernel;
  rest = rest.substr(0, rest.find('('));
  bool first = true;
  while (!rest.empty()) {
    std::string_view word = rest.substr(0, rest.find('_'));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    if (first) {
      for (char c : word)
        kernel.kind += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    first = false;
    for (std::string_view type :
         {"f16",    "f32",  "f64",   "bf16",   "i8",     "u8",    "i32",
          "u32",    "i64",  "u64",   "f8e4m3", "f8e5m2", "half",  "float",
          "double", "int8", "uint8", "int32",  "uint32", "int64", "uint64"}) {
      if (word == type) kernel.dtype = word;
    }
  }
  return kernel;
}

}  // namespace headway::trace::load_detail
