// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace headway::trainer {

/// An 8-bit grey image as a PNG file in memory (libpng, fastest compression).
std::vector<std::byte> encode_png(std::span<const std::uint8_t> pixels, int height, int width);

/// Decodes a PNG of exactly height x width pixels to 8-bit grey. Throws Error (bad input) that
/// names `origin` when the bytes are no PNG, damaged, or of another size.
void decode_png(std::span<const std::byte> png, int height, int width,
                std::span<std::uint8_t> pixels, std::string_view origin);

}  // namespace headway::trainer
