// SPDX-License-Identifier: MIT
#include "reference_trainer/data/picture.h"

#include <png.h>
#include <stdio.h>  // NOLINT: jpeglib.h needs FILE, and does not include it

#include <jpeglib.h>
#include <csetjmp>
#include <cstdlib>

#include <cstring>
#include <string>

#include "common/error.h"
#include "common/text.h"

namespace headway::trainer {
namespace {

constexpr int kMostPixels = 20000;

/// libjpeg reports errors by a call that must not return; exceptions must not pass through it.
struct JpegErrors {
  jpeg_error_mgr manager;
  std::jmp_buf back;
  char text[JMSG_LENGTH_MAX] = {};
};

extern "C" void on_jpeg_error(j_common_ptr jpeg) {
  auto* errors = reinterpret_cast<JpegErrors*>(jpeg->err);
  jpeg->err->format_message(jpeg, errors->text);
  std::longjmp(errors->back, 1);  // NOLINT(cert-err52-cpp): libjpeg's interface
}

/// Warnings are damage that libjpeg fills with grey: kept as the text, told afterwards.
extern "C" void on_jpeg_message(j_common_ptr jpeg, int level) {
  auto* errors = reinterpret_cast<JpegErrors*>(jpeg->err);
  if (level >= 0) return;
  if (jpeg->err->num_warnings++ == 0) jpeg->err->format_message(jpeg, errors->text);
}

/// Only plain data and references between setjmp and longjmp. False: `errors.text` says why.
bool read_jpeg(std::span<const std::byte> bytes, Picture& picture, JpegErrors& errors) {
  jpeg_decompress_struct jpeg{};
  jpeg.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = on_jpeg_error;
  errors.manager.emit_message = on_jpeg_message;
  if (setjmp(errors.back) != 0) {  // NOLINT(cert-err52-cpp)
    jpeg_destroy_decompress(&jpeg);
    return false;
  }
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(bytes.data()),
               static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&jpeg, TRUE);
  if (jpeg.image_width > kMostPixels || jpeg.image_height > kMostPixels) {
    std::strcpy(errors.text, "more than 20000 pixels a side");
    jpeg_destroy_decompress(&jpeg);
    return false;
  }
  jpeg.out_color_space = JCS_RGB;
  jpeg_start_decompress(&jpeg);
  picture.height = static_cast<int>(jpeg.output_height);
  picture.width = static_cast<int>(jpeg.output_width);
  picture.rgb.resize(std::size_t{jpeg.output_height} * jpeg.output_width * 3);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = picture.rgb.data() + std::size_t{jpeg.output_scanline} * jpeg.output_width * 3;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  const bool whole = errors.manager.num_warnings == 0;
  jpeg_destroy_decompress(&jpeg);
  return whole;
}

Picture decode_jpeg(std::span<const std::byte> bytes, std::string_view origin) {
  Picture picture;
  JpegErrors errors{};
  if (!read_jpeg(bytes, picture, errors))
    fail_input("{}: damaged JPEG: {}. Replace or remove the file.", escape_terminal(origin),
               errors.text);
  return picture;
}

constexpr std::string_view kPngMagic = "\x89PNG";

/// `pixels` in `format`, on white where that has no transparency. Sets height and width of `picture`.
std::vector<std::uint8_t> read_png(std::span<const std::byte> bytes, std::string_view origin,
                                   png_uint_32 format, Picture& picture) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const std::string place = escape_terminal(origin);
  if (!png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()))
    fail_input("{}: not a readable PNG: {}. Replace or remove the file.", place, image.message);
  if (image.width > kMostPixels || image.height > kMostPixels) {
    png_image_free(&image);
    fail_input("{}: more than {} pixels a side. Replace or remove the file.", place, kMostPixels);
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
  if (starts_with(bytes, "\xFF\xD8\xFF")) return decode_jpeg(bytes, origin);
  if (starts_with(bytes, kPngMagic)) return decode_png_picture(bytes, origin);
  fail_input("{}: neither JPEG nor PNG. Remove it from the folder.", escape_terminal(origin));
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
