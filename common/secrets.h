// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Passwords and tokens on command lines: traces and reports are passed on to other people, so the
/// values of such options are neither stored nor shown.
namespace headway {

inline constexpr std::string_view kMasked = "***";

/// True for the name of an option, a variable or a field whose value is a secret: "password",
/// "--hf-token", "AWS_SECRET_ACCESS_KEY", "apiKey"; not for "tokenizer", "max-tokens", "sort-key".
bool names_secret(std::string_view name);

/// The words of a command with the secrets replaced by kMasked: the value of `--token=…` or
/// `--token …`, of NAME_KEY=…, of a field in a URL or in JSON, the password in
/// scheme://user:…@host, and words that look like the tokens of large services.
std::vector<std::string> mask_secrets(std::vector<std::string> words);

/// The same for a command line in one string; its words may be quoted as for a shell.
std::string mask_secrets(std::string_view command_line);

}  // namespace headway
