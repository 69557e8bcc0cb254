// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "collector/inject/definition_index.h"
#include "collector/inject/event.h"
#include "collector/inject/handles.h"
#include "collector/inject/kept_texts.h"
#include "collector/inject/nvtx_types.h"
#include "collector/inject/short_text.h"
#include "collector/inject/utf8.h"

namespace headway::inject {

TEST_CASE("the length of a text is found without touching the page behind it") {
  long page = ::sysconf(_SC_PAGESIZE);
  char* memory =
      static_cast<char*>(::mmap(nullptr, static_cast<std::size_t>(2 * page), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(::mprotect(memory + page, static_cast<std::size_t>(page), PROT_NONE) == 0);
  for (std::uint32_t length = 0; length < 200; ++length) {
    char* text = memory + page - length - 1;
    std::memset(text, 'x', length);
    text[length] = '\0';
    CHECK(text_length(text) == length);
  }
  std::string far(wire::kMaxText + 100, 'y');
  CHECK(text_length(far.c_str()) == wire::kMaxText + 1);
  ::munmap(memory, static_cast<std::size_t>(2 * page));
}

TEST_CASE("wide texts become UTF-8, whole characters within the limit") {
  char out[4];
  auto encode = [&](wchar_t c) { return std::string(out, encode_utf8(c, out)); };
  CHECK(encode(L'a') == "a");
  CHECK(encode(L'ä') == "ä");
  CHECK(encode(L'€') == "€");
  CHECK(encode(L'\U0001f600') == "😀");
  CHECK(encode(static_cast<wchar_t>(0xd800)) == "\xef\xbf\xbd");
  CHECK(encode(static_cast<wchar_t>(0x7fffffff)) == "\xef\xbf\xbd");
  bool cut = false;
  CHECK(utf8_length(L"aä€", 100, cut) == 6);
  CHECK(!cut);
  CHECK(utf8_length(L"aä€", 5, cut) == 3);
  CHECK(cut);
}

TEST_CASE("handles come back as their ids, foreign ones as nothing") {
  auto domain = make_handle<nvtxDomainHandle_t>(HandleKind::kDomain, 17);
  CHECK(id_of(HandleKind::kDomain, domain) == 17);
  CHECK(id_of(HandleKind::kString, domain) == 0);
  int foreign = 0;
  CHECK(id_of(HandleKind::kDomain, &foreign) == 0);
  CHECK(id_of(HandleKind::kString, static_cast<void*>(nullptr)) == 0);
}

TEST_CASE("the index finds what was added after it has grown many times") {
  DefinitionIndex index;
  for (std::uint64_t i = 1; i <= 10'000; ++i)
    REQUIRE(index.add({i * 0x9e3779b97f4a7c15, i, static_cast<std::uint32_t>(i), 16}));
  for (std::uint64_t i = 1; i <= 10'000; ++i) {
    const DefinitionIndex::Entry* entry = index.find(
        i * 0x9e3779b97f4a7c15, [&](const DefinitionIndex::Entry& e) { return e.offset == i; });
    REQUIRE(entry != nullptr);
    REQUIRE(entry->id == i);
  }
  CHECK(index.find(12345, [](const DefinitionIndex::Entry&) { return true; }) == nullptr);
}

TEST_CASE("texts outside the log are kept once each, as long as there is room") {
  static KeptTexts texts;
  auto keep = [](const std::string& text) -> std::uint32_t {
    char* at = texts.room(text.size() + 1);
    if (!at) return 0;
    std::memcpy(at, text.c_str(), text.size() + 1);
    return texts.keep(text.size() + 1);
  };
  std::vector<std::uint32_t> ids;
  for (int i = 0; i < 100'000; ++i) ids.push_back(keep("a text with number " + std::to_string(i)));
  for (int i = 0; i < 100'000; ++i) {
    std::string text = "a text with number " + std::to_string(i);
    REQUIRE((ids[static_cast<std::size_t>(i)] & KeptTexts::kMark) != 0);
    REQUIRE(texts.text(ids[static_cast<std::size_t>(i)]) == text);
    REQUIRE(keep(text) == ids[static_cast<std::size_t>(i)]);
  }
  CHECK(texts.text(KeptTexts::kMark | 0x7fffffff) == nullptr);
  CHECK(texts.room(std::size_t{2} << 20) == nullptr);
  std::string large(60'000, 'x');
  int kept = 0;
  while (keep(large + std::to_string(kept)) != 0) ++kept;
  CHECK(kept > 4000);  // 256 MiB in all
  CHECK(texts.text(ids[0]) == std::string("a text with number 0"));
}

TEST_CASE("payloads are measured within the limit, and what cannot be measured is cut") {
  char data[64] = "text";
  bool cut = false;
  CHECK(blob_bytes({NVTX_PAYLOAD_SCHEMA_ID_STATIC_START, 10, data}, 100, cut) == 10);
  CHECK(!cut);
  CHECK(blob_bytes({NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, SIZE_MAX, data}, 100, cut) == 4);
  CHECK(!cut);
  CHECK(blob_bytes({NVTX_PAYLOAD_SCHEMA_ID_STATIC_START, 10, nullptr}, 100, cut) == 0);
  CHECK(!cut);
  CHECK(blob_bytes({NVTX_PAYLOAD_SCHEMA_ID_STATIC_START, 10, data}, 8, cut) == 8);
  CHECK(cut);
  cut = false;
  CHECK(blob_bytes({NVTX_PAYLOAD_SCHEMA_ID_STATIC_START, SIZE_MAX, data}, 100, cut) == 0);
  CHECK(cut);
}

}  // namespace headway::inject
