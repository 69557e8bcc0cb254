// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Passwords and tokens on command lines: a trace and its reports are handed on, so what such an
/// option is given is not stored and not shown.
namespace headway {

inline constexpr std::string_view kMasked = "***";

/// True for the name of an option, a variable or a field whose value is a secret: "password",
/// "--hf-token", "AWS_SECRET_ACCESS_KEY", "apiKey"; not for "tokenizer", "max-tokens", "sort-key".
bool names_secret(std::string_view name);

/// The words of a command with the secrets replaced by kMasked: the value of `--token=…` or
/// `--token …`, of NAME_KEY=…, of a field in a URL or in JSON, the password of scheme://user:…@host,
/// and what looks like the tokens that large services hand out.
std::vector<std::string> mask_secrets(std::vector<std::string> words);

/// The same for a command line in one text, its words quoted as for a shell or not.
std::string mask_secrets(std::string_view command_line);

}  // namespace headway
