// SPDX-License-Identifier: MIT
#include "reference_trainer/data/pairs.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include "common/error.h"
#include "common/text.h"
#include "reference_trainer/data/random.h"

namespace headway::trainer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFewest = 400;

/// A catalogue in the format of GNU gettext: a header of 32-bit numbers in either byte order, then
/// two tables of (length, offset), originals and translations.
class Catalogue {
 public:
  explicit Catalogue(const fs::path& path) : path_(path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    if (!file && !file.eof()) fail_input("{}: cannot be read.", escape_terminal(path.string()));
    constexpr std::uint32_t kMagic = 0x950412DE;
    const std::uint32_t magic = number(0);
    swapped_ = magic == __builtin_bswap32(kMagic);
    if (magic != kMagic && !swapped_) fail("is not a message catalogue");
    count_ = number(8);
    originals_ = number(12);
    translations_ = number(16);
  }

  std::uint32_t count() const { return count_; }
  std::string_view original(std::uint32_t i) const { return text(originals_, i); }
  std::string_view translation(std::uint32_t i) const { return text(translations_, i); }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    fail_input("{}: {}. Remove it or install its package again.", escape_terminal(path_.string()),
               what);
  }

  std::uint32_t number(std::uint64_t at) const {
    std::uint32_t value = 0;
    if (at + sizeof value > bytes_.size()) fail("is cut off");
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return swapped_ ? __builtin_bswap32(value) : value;
  }

  /// The i-th text of a table; for a plural, the first form.
  std::string_view text(std::uint32_t table, std::uint32_t i) const {
    const std::uint64_t entry = table + std::uint64_t{8} * i;
    const std::uint64_t length = number(entry);
    const std::uint64_t offset = number(entry + 4);
    if (offset + length > bytes_.size()) fail("is cut off");
    const std::string_view all(bytes_.data() + offset, length);
    return all.substr(0, all.find('\0'));
  }

  const fs::path path_;
  std::string bytes_;
  bool swapped_ = false;
  std::uint32_t count_ = 0;
  std::uint32_t originals_ = 0;
  std::uint32_t translations_ = 0;
};

std::vector<fs::path> catalogues_of(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    std::error_code ignored;
    if (entry->path().extension() == ".mo" && entry->is_regular_file(ignored))
      files.push_back(entry->path());
  }
  std::ranges::sort(files);
  return files;
}

void append_pairs(const fs::path& path, std::size_t most, std::vector<PairSet::Pair>& to) {
  const Catalogue catalogue(path);
  for (std::uint32_t i = 0; i < catalogue.count(); ++i) {
    std::string_view source = catalogue.original(i);
    const std::string_view target = catalogue.translation(i);
    // The text before this byte is the context.
    if (const auto context = source.find('\x04'); context != std::string_view::npos)
      source.remove_prefix(context + 1);
    if (source.empty() || target.empty() || source == target) continue;
    if (std::max(source.size(), target.size()) >= most) continue;
    to.push_back({std::string(source), std::string(target)});
  }
}

TrainAndTestPairs split(std::vector<PairSet::Pair> pairs, const std::string& description) {
  TrainAndTestPairs sets;
  sets.train.description = sets.test.description = description;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    (i % 20 == 7 ? sets.test : sets.train).pairs.push_back(std::move(pairs[i]));
  return sets;
}

}  // namespace

bool has_pairs(const fs::path& folder) {
  return !catalogues_of(folder).empty();
}

TrainAndTestPairs load_pairs(const fs::path& folder, std::int64_t most_bytes) {
  std::vector<PairSet::Pair> pairs;
  const std::vector<fs::path> files = catalogues_of(folder);
  for (const fs::path& file : files)
    append_pairs(file, static_cast<std::size_t>(most_bytes), pairs);
  if (pairs.size() < kFewest)
    fail_input(
        "{}: {} translated sentences of at most {} bytes in {} catalogues, at least {} are needed. "
        "Name another folder with --pairs-dir, raise --sequence, or use --data generated.",
        escape_terminal(folder.string()), pairs.size(), most_bytes - 1, files.size(), kFewest);
  return split(std::move(pairs), fmt::format("{} catalogues of {}", files.size(), folder.string()));
}

TrainAndTestPairs generate_pairs(std::uint64_t seed, std::int64_t count, std::int64_t most_bytes) {
  Random random(seed, 0x9A185, 0);
  constexpr std::size_t kWords = 200;
  std::vector<PairSet::Pair> dictionary;
  auto word = [&](std::string_view vowels) {
    std::string text;
    for (std::uint64_t n = 2 + random.below(4); n > 0; --n)
      text += n % 2 == 0 ? static_cast<char>('b' + random.below(20))
                         : vowels[random.below(vowels.size())];
    return text;
  };
  for (std::size_t i = 0; i < kWords; ++i) dictionary.push_back({word("aeiou"), word("aou")});
  std::vector<PairSet::Pair> pairs;
  while (static_cast<std::int64_t>(pairs.size()) < count) {
    PairSet::Pair pair;
    // Short sentences are as frequent as long ones.
    for (std::uint64_t n = 1 + random.below(static_cast<std::uint64_t>(most_bytes) / 5); n > 0;
         --n) {
      const PairSet::Pair& both = dictionary[random.below(kWords)];
      const std::string space = pair.source.empty() ? "" : " ";
      pair.source += space + both.source;
      pair.target = both.target + space + pair.target;
    }
    if (static_cast<std::int64_t>(pair.longer()) < most_bytes) pairs.push_back(std::move(pair));
  }
  return split(std::move(pairs), "generated sentences");
}

}  // namespace headway::trainer
