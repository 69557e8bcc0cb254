// SPDX-License-Identifier: MIT
#include "common/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace headway {
namespace {

bool is_upper(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}
bool is_lower(char c) {
  return std::islower(static_cast<unsigned char>(c)) != 0;
}
bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}
bool is_of_name(char c) {
  return is_upper(c) || is_lower(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
}

/// "hfToken", "HF_TOKEN" and "--hf-token" are all {"hf", "token"}.
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '_' || c == '-' || c == '.') {
      parts.emplace_back();
      continue;
    }
    if (is_upper(c) && i > 0 && is_lower(name[i - 1])) parts.emplace_back();
    parts.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  std::erase_if(parts, [](const std::string& part) { return part.empty(); });
  return parts;
}

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr auto kAlways =
    std::to_array<std::string_view>({"password", "passwd", "passphrase", "secret", "secrets",
                                     "credential", "credentials", "apikey", "authorization"});
/// Words before "key" that make it a secret.
constexpr auto kOfKey = std::to_array<std::string_view>(
    {"api", "access", "secret", "private", "auth", "account", "encryption", "signing", "ssh",
     "license", "storage", "service", "wandb", "deploy"});
/// Words before "token" that mean a token of a vocabulary, which is no secret.
constexpr auto kOfVocabulary = std::to_array<std::string_view>(
    {"pad", "eos", "bos", "unk", "mask", "cls", "sep", "special", "image", "end", "start", "stop",
     "per", "text", "new", "next", "each", "decoder", "vocab"});
constexpr auto kTokenPrefixes =
    std::to_array<std::string_view>({"hf_", "sk-", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-",
                                     "xoxb-", "xoxp-", "AKIA", "ASIA", "eyJ", "pypi-", "nvapi-"});

/// Masks the rest of each word that begins with the prefix of a service's token, is long enough and
/// contains both digits and letters.
std::string mask_tokens(std::string text) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_of_name(text[end])) ++end;
    if (end == at) {
      ++at;
      continue;
    }
    const std::string_view run = std::string_view(text).substr(at, end - at);
    auto has = [&](bool (*kind)(char)) { return std::any_of(run.begin(), run.end(), kind); };
    for (std::string_view prefix : kTokenPrefixes) {
      if (!run.starts_with(prefix) || run.size() < prefix.size() + 16) continue;
      if (!has(is_digit) || !(has(is_upper) || has(is_lower))) continue;
      text.replace(at + prefix.size(), run.size() - prefix.size(), kMasked);
      end = at + prefix.size() + kMasked.size();
      break;
    }
    at = end;
  }
  return text;
}

/// Masks the password in scheme://user:password@host.
std::string mask_user(std::string text) {
  for (std::size_t at = 0; (at = text.find("://", at)) != std::string::npos;) {
    at += 3;
    const std::size_t end = std::min(text.find_first_of("/ \t\n\"'", at), text.size());
    const std::size_t host = text.rfind('@', end);
    const std::size_t colon = text.find(':', at);
    if (host == std::string::npos || host < at || host >= end || colon >= host) continue;
    text.replace(colon + 1, host - colon - 1, kMasked);
  }
  return text;
}

/// Masks the values that follow the name of a secret and '=' or ':', anywhere in the text.
std::string mask_fields(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("=:", at)) != std::string::npos; ++at) {
    std::size_t name_end = at;
    while (name_end > 0 && text[name_end - 1] == ' ') --name_end;
    if (name_end > 0 && (text[name_end - 1] == '"' || text[name_end - 1] == '\'')) --name_end;
    std::size_t name = name_end;
    while (name > 0 && is_of_name(text[name - 1])) --name;
    if (!names_secret(std::string_view(text).substr(name, name_end - name))) continue;
    std::size_t value = at + 1;
    while (value < text.size() && text[value] == ' ') ++value;
    std::size_t end = text.size();
    if (value < text.size() && (text[value] == '"' || text[value] == '\'')) {
      const char quote = text[value++];
      end = std::min(text.find(quote, value), text.size());
    } else if (name > 0 || text.front() != '-') {  // one field of several; else all of the word
      end = std::min(text.find_first_of("&;,}\"' \t\n", value), text.size());
    }
    if (end == value) continue;
    text.replace(value, end - value, kMasked);
    at = value + kMasked.size() - 1;
  }
  return text;
}

std::string mask_word(std::string word);
std::string mask_argument(std::string word);

/// Replaces each word of a command line by `each(word)`. Quotes keep spaces within a word.
template <class Each>
std::string replace_words(std::string_view line, Each each) {
  std::string result;
  for (std::size_t at = 0; at < line.size();) {
    if (is_space(line[at])) {
      result += line[at++];
      continue;
    }
    std::size_t end = at;
    char quote = 0;
    for (; end < line.size() && (quote != 0 || !is_space(line[end])); ++end) {
      if (quote != 0 ? line[end] == quote : line[end] == '\'' || line[end] == '"')
        quote = quote != 0 ? '\0' : line[end];
    }
    result += each(std::string(line.substr(at, end - at)));
    at = end;
  }
  return result;
}

/// True if the next word is a secret: after "--token", but not after "--token=x".
bool announces(std::string_view word) {
  return word.starts_with('-') && word.find_first_of("=: ") == std::string_view::npos &&
         names_secret(word);
}

bool is_value(std::string_view word) {
  return !word.empty() && !word.starts_with('-');
}

std::string mask_word(std::string word) {
  const bool quoted = word.size() > 2 && word.front() == word.back() &&
                      (word.front() == '\'' || word.front() == '"');
  if (quoted) return word.front() + mask_argument(word.substr(1, word.size() - 2)) + word.back();
  return mask_tokens(mask_user(mask_fields(std::move(word))));
}

std::string mask_argument(std::string word) {
  if (word.find(' ') == std::string::npos) return mask_word(std::move(word));
  // `--password=two words` is one value; other text with spaces may be a command or JSON.
  const std::size_t field = word.find_first_of("=: ");
  const bool value = word.front() == '-' && word[field] != ' ' &&
                     names_secret(std::string_view(word).substr(0, field));
  return value ? mask_word(std::move(word)) : mask_secrets(std::string_view(mask_fields(word)));
}

}  // namespace

bool names_secret(std::string_view name) {
  const std::vector<std::string> parts = parts_of(name);
  if (parts.empty()) return false;
  for (const std::string& part : parts) {
    if (is_one_of(part, kAlways)) return true;
  }
  const bool alone = parts.size() == 1;
  const std::string& last = parts.back();
  const std::string_view before = alone ? std::string_view() : parts[parts.size() - 2];
  if (last == "token" || last == "pat")
    return !is_one_of(before, kOfVocabulary) && !(alone && last == "pat");
  if (last == "pwd") return !alone;
  if (last != "key" && last != "keys") return false;
  const bool variable =
      name.find('_') != std::string_view::npos && std::none_of(name.begin(), name.end(), is_lower);
  return !alone && (variable || is_one_of(before, kOfKey));
}

std::vector<std::string> mask_secrets(std::vector<std::string> words) {
  bool next = false;
  for (std::string& word : words) {
    const bool announced = announces(word);
    if (next && is_value(word)) {
      word = kMasked;
    } else {
      word = mask_argument(std::move(word));
    }
    next = announced;
  }
  return words;
}

std::string mask_secrets(std::string_view command_line) {
  bool next = false;
  return replace_words(command_line, [&](std::string word) {
    const bool announced = announces(word);
    std::string masked = next && is_value(word) ? std::string(kMasked) : mask_word(std::move(word));
    next = announced;
    return masked;
  });
}

}  // namespace headway
