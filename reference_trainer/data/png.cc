// SPDX-License-Identifier: MIT
#include "reference_trainer/data/png.h"

#include <png.h>

#include "common/error.h"
#include "common/text.h"

namespace headway::trainer {

std::vector<std::byte> encode_png(std::span<const std::uint8_t> pixels, int height, int width) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_GRAY;
  image.flags = PNG_IMAGE_FLAG_FAST;
  std::vector<std::byte> bytes(PNG_IMAGE_PNG_SIZE_MAX(image));
  png_alloc_size_t size = bytes.size();
  if (!png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0, nullptr))
    fail_internal("libpng could not encode an image of {}x{}: {}.", height, width, image.message);
  bytes.resize(size);
  return bytes;
}

void decode_png(std::span<const std::byte> png, int height, int width,
                std::span<std::uint8_t> pixels, std::string_view origin) {
  HEADWAY_INVARIANT(pixels.size() >= static_cast<std::size_t>(height) * width);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const std::string place = escape_terminal(origin);
  if (!png_image_begin_read_from_memory(&image, png.data(), png.size()))
    fail_input("{}: not a readable PNG: {}. Delete the file's folder; it is made again.", place,
               image.message);
  if (image.width != static_cast<png_uint_32>(width) ||
      image.height != static_cast<png_uint_32>(height)) {
    const auto [got_height, got_width] = std::pair{image.height, image.width};
    png_image_free(&image);
    fail_input("{}: {}x{} pixels, expected {}x{}.", place, got_height, got_width, height, width);
  }
  image.format = PNG_FORMAT_GRAY;
  if (!png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr))
    fail_input("{}: damaged PNG: {}. Delete the file's folder; it is made again.", place,
               image.message);
}

}  // namespace headway::trainer
