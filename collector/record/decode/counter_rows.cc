// SPDX-License-Identifier: MIT
#include "collector/record/decode/counter_rows.h"

#include <bit>

namespace headway::record {
namespace {

constexpr std::uint64_t kFirstSchemaId = 1u << 24;
// Members of a group beyond this number are not recorded.
constexpr std::size_t kMaxMembers = 256;

}  // namespace

std::int64_t CounterRows::series(const KnownCounter& counter, std::string_view name,
                                 std::string_view unit, std::string_view description) {
  return table_.number({name, unit, description, global_pid_, counter.device});
}

const CounterRows::Counter* CounterRows::find(std::uint16_t domain, std::uint64_t id) {
  auto [slot, is_new] = counters_.try_emplace({domain, id});
  if (!is_new) return &slot->second;
  const KnownCounter* known = definitions_.counter(domain, id);
  if (!known) {
    counters_.erase(slot);
    return nullptr;
  }
  Counter& counter = slot->second;
  counter.type = known->type;
  if (known->type < kFirstSchemaId) {
    counter.series = series(*known, known->name, known->unit, known->description);
    return &counter;
  }
  const KnownSchema* schema = definitions_.schema(domain, known->type);
  const std::vector<std::string>* units = definitions_.units(domain, known->type);
  if (!schema || !units) return &counter;
  for (std::size_t i = 0; i < schema->schema.entries.size() && i < kMaxMembers; ++i) {
    const trace::PayloadEntry& entry = schema->schema.entries[i];
    Member member;
    member.field = trace::PayloadField::find(schema->schema, entry.name);
    if (!member.field.valid() || member.field.count() != 1) continue;
    const std::string& unit = (*units)[i].empty() ? known->unit : (*units)[i];
    const std::string& text = entry.description.empty() ? known->description : entry.description;
    member.series = series(*known, known->name + "." + entry.name, unit, text);
    counter.members.push_back(member);
  }
  return &counter;
}

bool CounterRows::write(const RecordView& view, TimeNs time) {
  const Counter* counter = find(view.record.domain, view.record.value);
  if (!counter) return false;
  if (!(view.record.flags & wire::kTextInline)) {
    if (counter->series == 0) return false;
    std::uint64_t bits = view.record.text | std::uint64_t{view.record.color} << 32;
    double value = view.payload_kind == wire::PayloadKind::kDouble
                       ? std::bit_cast<double>(bits)
                       : static_cast<double>(static_cast<std::int64_t>(bits));
    table_.add(counter->series, time.ns, value);
    return true;
  }
  auto bytes = std::as_bytes(std::span(view.text.data(), view.text.size()));
  if (counter->series != 0) {
    trace::PayloadSchema single;
    trace::PayloadEntry& entry = single.entries.emplace_back();
    entry.type = counter->type;
    entry.name = "value";
    trace::PayloadField field = trace::PayloadField::find(single, "value");
    if (!field.valid()) return false;
    std::optional<double> value = field.number(bytes);
    if (value) table_.add(counter->series, time.ns, *value);
    return value.has_value();
  }
  bool any = false;
  for (const Member& member : counter->members) {
    std::optional<double> value = member.field.number(bytes);
    if (value) table_.add(member.series, time.ns, *value);
    any |= value.has_value();
  }
  return any;
}

}  // namespace headway::record
