// SPDX-License-Identifier: MIT
// Definitions that NVTX's extensions register: schemas and enumerations of payloads, counters,
// scopes.
#include <algorithm>
#include <cstddef>

#include "collector/inject/definitions.h"

namespace headway::inject {
namespace {

using wire::DefinitionType;
using wire::DefinitionWriter;

// Longest list of semantics extensions that is followed: more than any program links.
constexpr int kMaxSemantics = 16;

/// The extension with this id in the list; null when there is none, or when it is shorter than
/// `Semantics`.
template <class Semantics>
const Semantics* find_semantics(const nvtxSemanticsHeader_t* first, std::uint16_t id) {
  for (int i = 0; first && i < kMaxSemantics; ++i, first = first->next) {
    if (first->semanticId == id && first->structSize >= sizeof(Semantics))
      return reinterpret_cast<const Semantics*>(first);
  }
  return nullptr;
}

const char* unit_of(const nvtxSemanticsHeader_t* semantics) {
  auto* counter = find_semantics<nvtxSemanticsCounter_t>(semantics, NVTX_SEMANTIC_ID_COUNTERS_V1);
  return counter ? counter->unit : nullptr;
}

/// The value of a field, or `fallback` when the attributes' mask says that the field is not set.
template <class T, class Attributes>
T field_or(const Attributes& attributes, std::uint64_t field, T value, T fallback) {
  return attributes.fieldMask & field ? value : fallback;
}

}  // namespace

std::uint64_t define_schema(std::uint16_t domain, const nvtxPayloadSchemaAttr_t& schema) {
  std::uint64_t given =
      field_or<std::uint64_t>(schema, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID, schema.schemaId, 0);
  return define_with(DefinitionType::kSchema, domain, given, [&](DefinitionWriter& out) {
    auto number = [&](std::uint64_t field, std::uint64_t value) {
      return field_or<std::uint64_t>(schema, field, value, 0);
    };
    const nvtxPayloadSchemaEntry_t* entries = field_or<const nvtxPayloadSchemaEntry_t*>(
        schema, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES, schema.entries, nullptr);
    std::uint64_t count = number(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES, schema.numEntries);
    if (!entries) count = 0;
    count = std::min(count, wire::kMaxSchemaEntries);
    out.number(number(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE, schema.type));
    out.number(number(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS, schema.flags));
    out.number(number(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE, schema.payloadStaticSize));
    out.number(number(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT, schema.packAlign));
    out.number(count);
    put_text(out, {field_or<const char*>(schema, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME, schema.name,
                                         nullptr),
                   nullptr});
    for (std::uint64_t i = 0; i < count; ++i) {
      const nvtxPayloadSchemaEntry_t& entry = entries[i];
      out.number(entry.flags);
      out.number(entry.type);
      out.number(entry.arrayOrUnionDetail);
      out.number(entry.offset);
      put_text(out, {entry.name, nullptr});
      put_text(out, {entry.description, nullptr});
      put_text(out, {unit_of(entry.semantics), nullptr});
    }
  });
}

std::uint64_t define_enum(std::uint16_t domain, const nvtxPayloadEnumAttr_t& description) {
  std::uint64_t given = field_or<std::uint64_t>(description, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID,
                                                description.schemaId, 0);
  return define_with(DefinitionType::kEnum, domain, given, [&](DefinitionWriter& out) {
    const nvtxPayloadEnum_t* entries = field_or<const nvtxPayloadEnum_t*>(
        description, NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES, description.entries, nullptr);
    std::uint64_t count = field_or<std::uint64_t>(
        description, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES, description.numEntries, 0);
    if (!entries) count = 0;
    count = std::min(count, wire::kMaxSchemaEntries);
    out.number(field_or<std::uint64_t>(description, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE,
                                       description.sizeOfEnum, sizeof(int)));
    out.number(count);
    put_text(out, {field_or<const char*>(description, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME,
                                         description.name, nullptr),
                   nullptr});
    for (std::uint64_t i = 0; i < count; ++i) {
      out.number(entries[i].value);
      out.number(entries[i].isFlag != 0);
      put_text(out, {entries[i].name, nullptr});
    }
  });
}

std::uint64_t define_counter(std::uint16_t domain, const nvtxCounterAttr_t& counter) {
  if (counter.structSize < offsetof(nvtxCounterAttr_t, counterId) + sizeof counter.counterId)
    return 0;
  return define_with(DefinitionType::kCounter, domain, counter.counterId,
                     [&](DefinitionWriter& out) {
                       out.number(counter.schemaId);
                       out.number(counter.scopeId);
                       put_text(out, {counter.name, nullptr});
                       put_text(out, {counter.description, nullptr});
                       put_text(out, {unit_of(counter.semantics), nullptr});
                     });
}

std::uint64_t define_scope(std::uint16_t domain, const nvtxScopeAttr_t& scope) {
  if (scope.structSize < sizeof scope) return NVTX_SCOPE_NONE;
  return define_with(DefinitionType::kScope, domain, scope.scopeId, [&](DefinitionWriter& out) {
    out.number(scope.parentScope);
    put_text(out, {scope.path, nullptr});
  });
}

}  // namespace headway::inject
