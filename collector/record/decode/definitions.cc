// SPDX-License-Identifier: MIT
#include "collector/record/decode/definitions.h"

#include <cstring>

#include "common/nvtx_conventions.h"
#include "common/text.h"
#include "trace/tables/nvtx_events.h"
#include "trace/tables/nvtx_payload_schema_entries.h"
#include "trace/tables/nvtx_payload_schemas.h"

namespace headway::record {
namespace {

// ENUM_NSYS_EVENT_TYPE values of NVTX_EVENTS.eventType.
constexpr std::int32_t kEventCategory = 33;
constexpr std::int32_t kEventDomain = 75;

}  // namespace

std::int64_t DomainNumbers::of(std::string_view name) {
  if (name.empty()) return 0;
  auto found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  std::int64_t number = static_cast<std::int64_t>(numbers_.size()) + 1;
  numbers_.emplace(name, number);
  return number;
}

bool Definitions::read(std::span<const std::byte> log) {
  while (!log.empty()) {
    wire::DefinitionHeader header;
    if (log.size() < sizeof header) return false;
    std::memcpy(&header, log.data(), sizeof header);
    if (header.bytes < sizeof header || header.bytes > log.size() || header.bytes % 8 != 0)
      return false;
    if (!add(header, log.subspan(sizeof header, header.bytes - sizeof header))) return false;
    log = log.subspan(header.bytes);
  }
  return true;
}

bool Definitions::add(const wire::DefinitionHeader& header, std::span<const std::byte> body) {
  wire::DefinitionReader reader(body);
  auto type = static_cast<wire::DefinitionType>(header.type);
  if (type == wire::DefinitionType::kSchema) return add_schema(header, reader);
  std::string text = to_valid_utf8(reader.text());
  if (!reader.ok()) return false;
  trace::tables::NvtxEvents::Row row;
  row.global_tid = global_pid_;
  switch (type) {
    case wire::DefinitionType::kDomain:
      if (header.id == 0 || header.id > UINT16_MAX) return false;
      row.event_type = kEventDomain;
      row.domain_id = domains_.of(text);
      domain_numbers_[static_cast<std::uint16_t>(header.id)] = *row.domain_id;
      domain_names_[static_cast<std::uint16_t>(header.id)] = text;
      row.text = sink_.keep(text);
      sink_.add<trace::tables::NvtxEvents>(row);
      return true;
    case wire::DefinitionType::kString: {
      if (header.id == 0 || header.id > UINT32_MAX) return false;
      trace::StringId id = sink_.intern(text);
      strings_[static_cast<std::uint32_t>(header.id)] = {id, std::move(text)};
      return true;
    }
    case wire::DefinitionType::kPath:
      if (header.id == 0 || header.id > UINT32_MAX) return false;
      strings_[static_cast<std::uint32_t>(header.id)] = {sink_.intern(text), {}};
      return true;
    case wire::DefinitionType::kCategory:
      row.event_type = kEventCategory;
      row.domain_id = domain_number(header.domain);
      row.category = static_cast<std::int64_t>(header.id);
      row.text = sink_.keep(text);
      sink_.add<trace::tables::NvtxEvents>(row);
      return true;
    case wire::DefinitionType::kThreadName:
      thread_names_.emplace_back(static_cast<std::int32_t>(header.id), std::move(text));
      return true;
    case wire::DefinitionType::kNote:
      notes_[static_cast<wire::NoteKey>(header.id)] = std::move(text);
      return true;
    case wire::DefinitionType::kCallbackName:
      callbacks_[header.id] = std::move(text);
      return true;
    case wire::DefinitionType::kAddressName:
      addresses_[header.id] = std::move(text);
      return true;
    default:
      return false;
  }
}

bool Definitions::add_schema(const wire::DefinitionHeader& header, wire::DefinitionReader& body) {
  trace::PayloadSchema schema;
  schema.id = header.id;
  schema.type = body.number();
  schema.flags = body.number();
  schema.static_size = body.number();
  schema.align = body.number();
  std::uint64_t count = body.number();
  schema.name = to_valid_utf8(body.text());
  if (count > wire::kMaxSchemaEntries) return false;
  for (std::uint64_t i = 0; i < count && body.ok(); ++i) {
    trace::PayloadEntry& entry = schema.entries.emplace_back();
    entry.flags = body.number();
    entry.type = body.number();
    entry.array_or_union_detail = body.number();
    entry.offset = body.number();
    entry.name = to_valid_utf8(body.text());
    entry.description = to_valid_utf8(body.text());
  }
  if (!body.ok()) return false;
  write_schema(domain_number(header.domain), schema);
  KnownSchema known;
  auto domain = domain_names_.find(header.domain);
  if (domain != domain_names_.end() && domain->second == conventions::kDomain)
    known.convention = Convention::recognise(schema);
  known.schema = std::move(schema);
  schemas_[{header.domain, header.id}] = std::move(known);
  return true;
}

void Definitions::write_schema(std::int64_t domain, const trace::PayloadSchema& schema) {
  auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  trace::tables::NvtxPayloadSchemas::Row row;
  row.domain_id = domain;
  row.schema_id = number(schema.id);
  row.schema_name = sink_.keep(schema.name);
  row.type = number(schema.type);
  row.flags = number(schema.flags);
  row.num_entries = number(schema.entries.size());
  row.payload_size = number(schema.static_size);
  row.align_to = number(schema.align);
  row.global_pid = global_pid_;
  sink_.add<trace::tables::NvtxPayloadSchemas>(row);
  for (std::size_t i = 0; i < schema.entries.size(); ++i) {
    const trace::PayloadEntry& entry = schema.entries[i];
    trace::tables::NvtxPayloadSchemaEntries::Row out;
    out.domain_id = domain;
    out.schema_id = number(schema.id);
    out.idx = number(i);
    out.flags = number(entry.flags);
    out.type = number(entry.type);
    out.entry_name = sink_.keep(entry.name);
    if (!entry.description.empty()) out.description = sink_.keep(entry.description);
    out.array_or_union_detail = number(entry.array_or_union_detail);
    out.offset = number(entry.offset);
    out.global_pid = global_pid_;
    sink_.add<trace::tables::NvtxPayloadSchemaEntries>(out);
  }
}

std::int64_t Definitions::domain_number(std::uint16_t domain) const {
  auto found = domain_numbers_.find(domain);
  return found == domain_numbers_.end() ? 0 : found->second;
}

std::optional<trace::StringId> Definitions::string(std::uint32_t id) const {
  auto found = strings_.find(id);
  if (found == strings_.end()) return std::nullopt;
  return found->second.id;
}

const std::string* Definitions::string_text(std::uint32_t id) const {
  auto found = strings_.find(id);
  return found == strings_.end() ? nullptr : &found->second.text;
}

const KnownSchema* Definitions::schema(std::uint16_t domain, std::uint64_t id) const {
  auto found = schemas_.find({domain, id});
  return found == schemas_.end() ? nullptr : &found->second;
}

std::vector<std::pair<std::int32_t, std::string>> Definitions::take_thread_names() {
  return std::exchange(thread_names_, {});
}

std::optional<std::string> Definitions::take_note(wire::NoteKey key) {
  auto found = notes_.find(key);
  if (found == notes_.end()) return std::nullopt;
  return std::move(notes_.extract(found).mapped());
}

}  // namespace headway::record
