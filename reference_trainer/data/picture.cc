// SPDX-License-Identifier: MIT
#include "reference_trainer/data/picture.h"

#include <png.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "common/error.h"
#include "common/text.h"
#include "reference_trainer/data/jpeg_decoder.h"

namespace headway::trainer {
namespace {

Picture decode_jpeg(std::span<const std::byte> bytes, std::string_view origin) {
  JpegDecoder decoder(bytes, origin);
  decoder.read_header();
  Picture picture;
  picture.height = static_cast<int>(decoder.header().image_height);
  picture.width = static_cast<int>(decoder.header().image_width);
  const std::size_t row_bytes = std::size_t{decoder.header().image_width} * 3;
  picture.rgb.resize(decoder.header().image_height * row_bytes);
  decoder.run([&](jpeg_decompress_struct& jpeg) {
    jpeg.out_color_space = JCS_RGB;
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW row = picture.rgb.data() + jpeg.output_scanline * row_bytes;
      jpeg_read_scanlines(&jpeg, &row, 1);
    }
  });
  decoder.finish();
  return picture;
}

constexpr std::string_view kJpegMagic = "\xFF\xD8\xFF";
constexpr std::string_view kPngMagic = "\x89PNG";

[[noreturn]] void fail_other(std::string_view origin) {
  fail_input("{}: neither JPEG nor PNG. Remove it from the folder.", escape_terminal(origin));
}

/// The first chunk of a PNG (ISO/IEC 15948) has a fixed length and begins with width and height,
/// big-endian. The decoder reports errors in them.
std::optional<PictureExtent> png_extent(std::span<const std::byte> bytes) {
  constexpr std::size_t kWidthAt = 16;
  if (bytes.size() < kWidthAt + 8) return std::nullopt;
  auto number = [&](std::size_t at) {
    std::int64_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value * 256 + std::to_integer<int>(bytes[at + i]);
    return static_cast<int>(std::clamp<std::int64_t>(value, 1, kMostPictureSide));
  };
  return PictureExtent{number(kWidthAt + 4), number(kWidthAt)};
}

/// The pixels in `format`; where the format has no transparency, on white. Sets height and width of
/// `picture`.
std::vector<std::uint8_t> read_png(std::span<const std::byte> bytes, std::string_view origin,
                                   png_uint_32 format, Picture& picture) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const std::string place = escape_terminal(origin);
  if (!png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()))
    fail_input("{}: not a readable PNG: {}. Replace or remove the file.", place, image.message);
  if (image.width > kMostPictureSide || image.height > kMostPictureSide) {
    png_image_free(&image);
    fail_input("{}: more than {} pixels a side. Replace or remove the file.", place,
               kMostPictureSide);
  }
  image.format = format;
  picture.height = static_cast<int>(image.height);
  picture.width = static_cast<int>(image.width);
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image));
  const png_color white{255, 255, 255};
  if (!png_image_finish_read(&image, &white, pixels.data(), 0, nullptr))
    fail_input("{}: damaged PNG: {}. Replace or remove the file.", place, image.message);
  return pixels;
}

Picture decode_png_picture(std::span<const std::byte> bytes, std::string_view origin) {
  Picture picture;
  picture.rgb = read_png(bytes, origin, PNG_FORMAT_RGB, picture);
  return picture;
}

bool starts_with(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

}  // namespace

Picture decode_picture(std::span<const std::byte> bytes, std::string_view origin) {
  if (starts_with(bytes, kJpegMagic)) return decode_jpeg(bytes, origin);
  if (starts_with(bytes, kPngMagic)) return decode_png_picture(bytes, origin);
  fail_other(origin);
}

std::optional<PictureExtent> picture_extent(std::span<const std::byte> bytes,
                                            std::string_view origin) {
  if (starts_with(bytes, kPngMagic)) return png_extent(bytes);
  if (!starts_with(bytes, kJpegMagic)) fail_other(origin);
  JpegDecoder decoder(bytes, origin, JpegDecoder::Input::kBeginning);
  if (!decoder.read_header()) return std::nullopt;
  return PictureExtent{static_cast<int>(decoder.header().image_height),
                       static_cast<int>(decoder.header().image_width)};
}

Cutout decode_cutout(std::span<const std::byte> bytes, std::string_view origin) {
  Cutout cutout;
  if (!starts_with(bytes, kPngMagic)) {
    cutout.picture = decode_picture(bytes, origin);
    cutout.alpha.assign(cutout.picture.rgb.size() / 3, 255);
    return cutout;
  }
  const std::vector<std::uint8_t> rgba = read_png(bytes, origin, PNG_FORMAT_RGBA, cutout.picture);
  for (std::size_t i = 0; i < rgba.size(); i += 4) {
    for (std::size_t c = 0; c < 3; ++c) cutout.picture.rgb.push_back(rgba[i + c]);
    cutout.alpha.push_back(rgba[i + 3]);
  }
  return cutout;
}

std::vector<std::byte> encode_jpeg(const Picture& picture, int quality) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = static_cast<JDIMENSION>(picture.width);
  jpeg.image_height = static_cast<JDIMENSION>(picture.height);
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, quality, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* row = const_cast<JSAMPLE*>(picture.at(static_cast<int>(jpeg.next_scanline), 0));
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  const auto* first = reinterpret_cast<const std::byte*>(bytes);
  std::vector<std::byte> result(first, first + size);
  jpeg_destroy_compress(&jpeg);
  std::free(bytes);
  return result;
}

}  // namespace headway::trainer
