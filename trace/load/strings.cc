// SPDX-License-Identifier: MIT
#include "trace/load/context.h"
#include "trace/tables/string_ids.h"

namespace headway::trace::load_detail {
namespace {

constexpr std::int64_t kMaxDenseIds = std::int64_t{1} << 26;

}  // namespace

void load_strings(Context& context) {
  context.unknown_string = context.trace.strings.add("?");
  using Table = tables::StringIds;
  sqlite::Select<Table, &Table::Row::id, &Table::Row::value>::run(
      context.db, [&](std::int64_t, const Table::Row& row) {
        StringId id = context.trace.strings.add(row.value);
        if (row.id >= 0 && row.id < kMaxDenseIds) {
          auto index = static_cast<std::size_t>(row.id);
          if (index >= context.string_ids.size())
            context.string_ids.resize(index + 1, StringId::none());
          context.string_ids[index] = id;
        } else {
          context.sparse_string_ids[row.id] = id;
        }
      });
}

std::string Context::in_stretch() const {
  if (!stretch) return {};
  // No end: it lasts until the recording ends.
  return fmt::format("start < {} AND (\"end\" IS NULL OR \"end\" > {} OR start >= {})",
                     stretch->end.ns, stretch->begin.ns, stretch->begin.ns);
}

StringId Context::string(std::int64_t id, LossCounts& part_losses) const {
  if (id >= 0 && static_cast<std::size_t>(id) < string_ids.size() &&
      string_ids[static_cast<std::size_t>(id)].valid()) {
    return string_ids[static_cast<std::size_t>(id)];
  }
  auto found = sparse_string_ids.find(id);
  if (found != sparse_string_ids.end()) return found->second;
  count(part_losses, Loss::kUnknownString);
  return unknown_string;
}

}  // namespace headway::trace::load_detail
