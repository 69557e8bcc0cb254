// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "collector/inject/kept_texts.h"
#include "collector/inject/nvtx_types.h"
#include "collector/inject/segment.h"
#include "collector/wire/definition.h"

/// Everything a program registers: appended to the log of the segment, each distinct thing once.
/// Not for the hot path (a lock, a hash, sometimes a page of memory). Called inside an Entry. The
/// result 0 says that there was no room or no recorder.
namespace headway::inject {

/// Text from the program, narrow or wide; null is "".
struct Text {
  const char* narrow = nullptr;
  const wchar_t* wide = nullptr;
};

/// The index of the domain with this name, for this process the same however often it is made.
std::uint32_t define_domain(Text name);
/// The result has KeptTexts::kMark when the recorder does not know the text: kept_text() does.
std::uint32_t define_string(std::uint16_t domain, Text text);
/// Null when there is none. Also outside of an Entry.
const char* kept_text(std::uint32_t string);
void define_category(std::uint16_t domain, std::uint32_t category, Text name);
/// The last name of a thread counts.
void define_thread_name(std::uint64_t tid, Text name);
/// Ids of what the extensions register (nvtx_definitions.cc): the given one, or a new one.
std::uint64_t define_schema(std::uint16_t domain, const nvtxPayloadSchemaAttr_t& schema);
/// As schemas: enums share their numbers, because payload entries name either as a type.
std::uint64_t define_enum(std::uint16_t domain, const nvtxPayloadEnumAttr_t& description);
std::uint64_t define_counter(std::uint16_t domain, const nvtxCounterAttr_t& counter);
std::uint64_t define_scope(std::uint16_t domain, const nvtxScopeAttr_t& scope);
/// Name of a device or stream; `id` is CUDA's number in this process.
void define_resource(wire::ResourceKind kind, std::uint64_t id, Text name);
/// The id of a path, in the numbers of strings; 0 when there is no room. Paths leave half of the log
/// to everything else, those of folders go a little further. The process lock must be held.
std::uint32_t define_path_locked(const char* path, std::size_t length, bool folder);
/// Of the library about itself; the last text of a key counts.
void define_note(wire::NoteKey key, const char* text);
/// Name of a function of the CUDA API, once per function.
void define_callback_name(bool driver, std::uint32_t cbid, const char* name);
/// The text at an address of the program, so that the recorder never reads its memory.
void define_address_name(std::uint64_t address, const char* name);

/// Registers what `write(out)` writes: called twice, the first time to learn the size.
using WriteBody = void (*)(wire::DefinitionWriter& out, void* argument);
std::uint64_t define_body(wire::DefinitionType type, std::uint16_t domain, std::uint64_t id,
                          WriteBody write, void* argument);
template <class Write>
std::uint64_t define_with(wire::DefinitionType type, std::uint16_t domain, std::uint64_t id,
                          Write write) {
  return define_body(
      type, domain, id,
      [](wire::DefinitionWriter& out, void* argument) { (*static_cast<Write*>(argument))(out); },
      &write);
}
void put_text(wire::DefinitionWriter& out, Text text);

/// Copies the log of the parent of a fork into the segment of the child, which inherited the index.
/// False when there is no room: the child's limits may be tighter than its parent's were.
bool copy_definitions(const Segment& from, const Segment& to);

}  // namespace headway::inject
