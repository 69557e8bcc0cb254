// SPDX-License-Identifier: MIT
#include "collector/record/decode/definitions.h"

#include <charconv>
#include <cstring>

#include "common/nvtx_conventions.h"
#include "common/text.h"
#include "trace/tables/nvtx_events.h"
#include "trace/tables/nvtx_payload_enum_entries.h"
#include "trace/tables/nvtx_payload_enums.h"
#include "trace/tables/nvtx_payload_schema_entries.h"
#include "trace/tables/nvtx_payload_schemas.h"

namespace headway::record {
namespace {

// ENUM_NSYS_EVENT_TYPE values of NVTX_EVENTS.eventType.
constexpr std::int32_t kEventCategory = 33;
constexpr std::int32_t kEventDomain = 75;
constexpr std::int32_t kEventNameDevice = 97;
constexpr std::int32_t kEventNameStream = 99;

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
  switch (type) {
    case wire::DefinitionType::kSchema:
      return add_schema(header, reader);
    case wire::DefinitionType::kEnum:
      return add_enum(header, reader);
    case wire::DefinitionType::kCounter:
      return add_counter(header, reader);
    case wire::DefinitionType::kScope:
      return add_scope(header, reader);
    case wire::DefinitionType::kResource:
      return add_resource(reader);
    default:
      break;
  }
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
  std::vector<std::string> units;
  if (count > wire::kMaxSchemaEntries) return false;
  for (std::uint64_t i = 0; i < count && body.ok(); ++i) {
    trace::PayloadEntry& entry = schema.entries.emplace_back();
    entry.flags = body.number();
    entry.type = body.number();
    entry.array_or_union_detail = body.number();
    entry.offset = body.number();
    entry.name = to_valid_utf8(body.text());
    entry.description = to_valid_utf8(body.text());
    units.push_back(to_valid_utf8(body.text()));
  }
  if (!body.ok()) return false;
  units_[{header.domain, header.id}] = std::move(units);
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

bool Definitions::add_enum(const wire::DefinitionHeader& header, wire::DefinitionReader& body) {
  trace::PayloadEnum known;
  std::uint64_t size = body.number();
  // No integer has another size; values of such an enum are not read (size 0).
  known.size =
      size == 1 || size == 2 || size == 4 || size == 8 ? static_cast<std::size_t>(size) : 0;
  std::uint64_t count = body.number();
  known.name = to_valid_utf8(body.text());
  if (count > wire::kMaxSchemaEntries) return false;
  for (std::uint64_t i = 0; i < count && body.ok(); ++i) {
    trace::PayloadEnum::Value& value = known.values.emplace_back();
    value.value = body.number();
    value.is_flag = body.number() != 0;
    value.name = to_valid_utf8(body.text());
  }
  if (!body.ok()) return false;
  std::int64_t domain = domain_number(header.domain);
  auto id = static_cast<std::int64_t>(header.id);
  trace::tables::NvtxPayloadEnums::Row row;
  row.domain_id = domain;
  row.schema_id = id;
  row.enum_name = sink_.keep(known.name);
  row.num_entries = static_cast<std::int64_t>(count);
  row.size = static_cast<std::int64_t>(size);
  row.global_pid = global_pid_;
  sink_.add<trace::tables::NvtxPayloadEnums>(row);
  for (std::size_t i = 0; i < known.values.size(); ++i) {
    const trace::PayloadEnum::Value& value = known.values[i];
    sink_.add<trace::tables::NvtxPayloadEnumEntries>(
        {domain, id, static_cast<std::int64_t>(i), sink_.keep(value.name),
         static_cast<std::int64_t>(value.value), value.is_flag, global_pid_});
  }
  enums_[{header.domain, header.id}] = std::move(known);
  return true;
}

bool Definitions::add_counter(const wire::DefinitionHeader& header, wire::DefinitionReader& body) {
  KnownCounter counter;
  counter.type = body.number();
  std::uint64_t scope = body.number();
  counter.name = to_valid_utf8(body.text());
  counter.description = to_valid_utf8(body.text());
  counter.unit = to_valid_utf8(body.text());
  if (!body.ok()) return false;
  auto domain = domain_names_.find(header.domain);
  if (domain != domain_names_.end()) counter.name = domain->second + "." + counter.name;
  auto device = scope_devices_.find({header.domain, scope});
  if (device != scope_devices_.end()) counter.device = device->second;
  counters_[{header.domain, header.id}] = std::move(counter);
  return true;
}

bool Definitions::add_scope(const wire::DefinitionHeader& header, wire::DefinitionReader& body) {
  // A counter row has a place only for the device of a scope's path, "GPU[CUDAID:0]", or of its
  // parent.
  constexpr std::string_view kDevice = "GPU[CUDAID:";
  std::uint64_t parent = body.number();
  std::string_view path = body.text();
  if (!body.ok()) return false;
  std::int64_t device = 0;
  std::size_t at = path.rfind(kDevice);
  if (at != std::string_view::npos) {
    std::string_view number = path.substr(at + kDevice.size());
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), device);
    if (error == std::errc() && end != number.data() + number.size() && *end == ']')
      scope_devices_[{header.domain, header.id}] = device;
  } else if (auto known = scope_devices_.find({header.domain, parent});
             known != scope_devices_.end()) {
    scope_devices_[{header.domain, header.id}] = known->second;
  }
  return true;
}

bool Definitions::add_resource(wire::DefinitionReader& body) {
  auto kind = static_cast<wire::ResourceKind>(body.number());
  const std::uint64_t id = body.number();
  std::string name = to_valid_utf8(body.text());
  bool stream = kind == wire::ResourceKind::kCudaStream;
  if (!body.ok() || (!stream && kind != wire::ResourceKind::kCudaDevice)) return false;
  trace::tables::NvtxEvents::Row row;
  row.global_tid = global_pid_;
  row.event_type = stream ? kEventNameStream : kEventNameDevice;
  row.text = sink_.keep(name);
  row.uint64_value = static_cast<std::int64_t>(id);
  sink_.add<trace::tables::NvtxEvents>(row);
  if (stream) stream_names_[id] = std::move(name);
  return true;
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
  return find(schemas_, {domain, id});
}

const trace::PayloadEnum* Definitions::enumeration(std::uint16_t domain, std::uint64_t id) const {
  return find(enums_, {domain, id});
}

const KnownCounter* Definitions::counter(std::uint16_t domain, std::uint64_t id) const {
  return find(counters_, {domain, id});
}

const std::vector<std::string>* Definitions::units(std::uint16_t domain,
                                                   std::uint64_t schema) const {
  return find(units_, {domain, schema});
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
