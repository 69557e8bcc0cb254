// SPDX-License-Identifier: MIT
#include "common/step_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>

namespace headway {

bool means_step(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kWords = {
      "step",      "profilerstep", "iteration",      "iter",
      "trainstep", "trainingstep", "trainiteration", "trainingiteration"};
  // Longer names are prose or op names that happen to contain the word.
  constexpr std::size_t kLongest = 40;
  if (name.size() > kLongest) return false;
  // "ProfilerStep#12" -> "profilerstep", "train_step 7" -> "trainstep".
  char word[kLongest];
  std::size_t length = 0;
  for (char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c)))
      word[length++] = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return std::find(kWords.begin(), kWords.end(), std::string_view(word, length)) != kWords.end();
}

std::int64_t trailing_number(std::string_view name) {
  std::size_t begin = name.size();
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(name[begin - 1]))) --begin;
  if (begin == name.size() || name.size() - begin > 15) return -1;
  std::int64_t number = -1;
  std::from_chars(name.data() + begin, name.data() + name.size(), number);
  return number;
}

}  // namespace headway
