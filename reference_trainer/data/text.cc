// SPDX-License-Identifier: MIT
#include "reference_trainer/data/text.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "common/error.h"
#include "common/format.h"
#include "common/text.h"
#include "reference_trainer/data/random.h"

namespace headway::trainer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 64 * 1024 * 1024;

/// Appends the file's bytes, decompressed if needed.
void append_file(const fs::path& path, std::vector<std::uint8_t>& to) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (!file) fail_input("{}: cannot be opened for reading.", escape_terminal(path.string()));
  std::array<std::uint8_t, 65536> block;
  int got = 0;
  while ((got = gzread(file, block.data(), block.size())) > 0)
    to.insert(to.end(), block.begin(), block.begin() + got);
  int code = Z_OK;
  const std::string message = gzerror(file, &code);
  gzclose(file);
  if (got < 0 || (code != Z_OK && code != Z_STREAM_END))
    fail_input("{}: damaged: {}. Remove it or install its package again.",
               escape_terminal(path.string()), message);
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    std::error_code ignored;
    // A manual page may be a link to another page, which is read once.
    if (entry->is_regular_file(ignored) && !entry->is_symlink(ignored))
      files.push_back(entry->path());
  }
  if (code) fail_input("{}: {}.", escape_terminal(folder.string()), code.message());
  std::ranges::sort(files);
  return files;
}

TrainAndTestText split(std::vector<std::uint8_t> tokens, const std::string& description) {
  const auto cut = static_cast<std::ptrdiff_t>(tokens.size() - tokens.size() / 20);
  TrainAndTestText text;
  text.test = {description, {tokens.begin() + cut, tokens.end()}};
  tokens.resize(static_cast<std::size_t>(cut));
  text.train = {description, std::move(tokens)};
  return text;
}

constexpr std::array<const char*, 16> kSyllables = {"ba", "to",  "mi",  "ren", "sul", "ka",
                                                    "vo", "len", "dar", "pi",  "zu",  "no",
                                                    "fe", "gor", "ha",  "est"};

std::string make_word(Random& random) {
  std::string word;
  for (std::uint64_t n = 1 + random.below(3); n > 0; --n)
    word += kSyllables[random.below(kSyllables.size())];
  return word;
}

}  // namespace

bool has_text(const fs::path& folder) {
  std::error_code code;
  const fs::directory_iterator first(folder, code);
  return !code && first != fs::directory_iterator();
}

TrainAndTestText load_text(const fs::path& folder, std::int64_t least_bytes) {
  std::vector<std::uint8_t> tokens;
  const std::vector<fs::path> files = files_of(folder);
  for (const fs::path& file : files) {
    append_file(file, tokens);
    if (tokens.size() > kMostBytes) break;
  }
  if (static_cast<std::int64_t>(tokens.size()) < least_bytes)
    fail_input(
        "{}: {} of text, at least {} are needed. Name a folder with more with --text-dir, or use "
        "--data generated.",
        escape_terminal(folder.string()), format_bytes(static_cast<std::int64_t>(tokens.size())),
        format_bytes(least_bytes));
  const std::string description = fmt::format("{} files of {}", files.size(), folder.string());
  return split(std::move(tokens), description);
}

/// Every sentence is article, adjective, noun, verb, article, noun. The words of each class depend
/// on the word before, so that there is something to learn beyond the letters.
TrainAndTestText generate_text(std::uint64_t seed, std::int64_t bytes) {
  Random random(seed, 0x7E87, 0);
  std::array<std::vector<std::string>, 4> words;  // articles, adjectives, nouns, verbs
  constexpr std::array<std::size_t, 4> kCounts = {3, 40, 120, 60};
  for (std::size_t c = 0; c < words.size(); ++c)
    for (std::size_t i = 0; i < kCounts[c]; ++i) words[c].push_back(make_word(random));
  constexpr std::array<std::size_t, 6> kSentence = {0, 1, 2, 3, 0, 2};
  std::string text;
  while (static_cast<std::int64_t>(text.size()) < bytes) {
    std::size_t before = random.below(1000);
    for (std::size_t place = 0; place < kSentence.size(); ++place) {
      const auto& choice = words[kSentence[place]];
      // Only a few words can follow a word.
      const std::size_t which = (before * 7 + random.below(5)) % choice.size();
      text += (place > 0 ? " " : "") + choice[which];
      before = which;
    }
    text += ".\n";
  }
  text.resize(static_cast<std::size_t>(bytes));
  return split({text.begin(), text.end()}, "generated text");
}

}  // namespace headway::trainer
