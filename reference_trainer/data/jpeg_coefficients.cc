// SPDX-License-Identifier: MIT
#include "reference_trainer/data/jpeg_coefficients.h"

#include <algorithm>
#include <cstring>

#include "common/error.h"
#include "common/text.h"
#include "reference_trainer/data/jpeg_decoder.h"

namespace headway::trainer {
namespace {

static_assert(sizeof(JCOEF) == sizeof(std::int16_t) && sizeof(JBLOCK) == 64 * sizeof(JCOEF));

/// Reports a JPEG that a device cannot decode. `what` begins with "a ".
[[noreturn]] void fail_other(std::string_view origin, std::string_view what) {
  fail_input("{}: {}, which is not decoded on a device. Use --decode step.",
             escape_terminal(origin), what);
}

void require_jpeg(std::span<const std::byte> bytes, std::string_view origin) {
  constexpr std::string_view kMagic = "\xFF\xD8\xFF";
  const std::size_t known = std::min(bytes.size(), kMagic.size());
  if (known == 0 || std::memcmp(bytes.data(), kMagic.data(), known) != 0)
    fail_other(origin, "a file other than a JPEG");
}

bool is_half_or_all(int part, int whole) {
  return part == whole || 2 * part == whole;
}

void require_known(const jpeg_decompress_struct& jpeg, std::string_view origin) {
  if (jpeg.jpeg_color_space == JCS_RGB) fail_other(origin, "a JPEG of RGB instead of YCbCr");
  // libjpeg does not convert these to RGB either.
  if (jpeg.jpeg_color_space != JCS_GRAYSCALE && jpeg.jpeg_color_space != JCS_YCbCr)
    fail_input("{}: a JPEG of {} components, expected grey or YCbCr. Convert or remove the file.",
               escape_terminal(origin), jpeg.num_components);
  for (int c = 0; c < jpeg.num_components; ++c) {
    const jpeg_component_info& one = jpeg.comp_info[c];
    const bool all =
        one.h_samp_factor == jpeg.max_h_samp_factor && one.v_samp_factor == jpeg.max_v_samp_factor;
    if (c == 0 ? !all
               : !is_half_or_all(one.h_samp_factor, jpeg.max_h_samp_factor) ||
                     !is_half_or_all(one.v_samp_factor, jpeg.max_v_samp_factor))
      fail_other(origin, fmt::format("a JPEG with {}x{} samples of component {} where {}x{} are "
                                     "most (chroma of half or all rows and columns is known)",
                                     one.h_samp_factor, one.v_samp_factor, c + 1,
                                     jpeg.max_h_samp_factor, jpeg.max_v_samp_factor));
  }
}

JpegExtent extent_of(const jpeg_decompress_struct& jpeg) {
  JpegExtent extent{static_cast<int>(jpeg.image_height), static_cast<int>(jpeg.image_width), 0};
  for (int c = 0; c < jpeg.num_components; ++c)
    extent.blocks +=
        std::int64_t{jpeg.comp_info[c].height_in_blocks} * jpeg.comp_info[c].width_in_blocks;
  return extent;
}

/// All fields but the steps, which may come later in the file.
kernels::JpegPicture layout_of(const jpeg_decompress_struct& jpeg, std::int64_t offset) {
  kernels::JpegPicture picture;
  picture.height = static_cast<int>(jpeg.image_height);
  picture.width = static_cast<int>(jpeg.image_width);
  picture.planes = jpeg.num_components;
  for (int c = 0; c < jpeg.num_components; ++c) {
    const jpeg_component_info& from = jpeg.comp_info[c];
    kernels::JpegPlane& plane = picture.plane[c];
    plane.offset = offset;
    plane.blocks_high = static_cast<int>(from.height_in_blocks);
    plane.blocks_wide = static_cast<int>(from.width_in_blocks);
    plane.rows_per_sample = jpeg.max_v_samp_factor / from.v_samp_factor;
    plane.columns_per_sample = jpeg.max_h_samp_factor / from.h_samp_factor;
    offset += 64 * std::int64_t{plane.blocks_high} * plane.blocks_wide;
  }
  return picture;
}

}  // namespace

std::optional<JpegExtent> jpeg_extent(std::span<const std::byte> bytes, std::string_view origin) {
  require_jpeg(bytes, origin);
  JpegDecoder decoder(bytes, origin, JpegDecoder::Input::kBeginning);
  if (!decoder.read_header()) return std::nullopt;
  require_known(decoder.header(), origin);
  return extent_of(decoder.header());
}

kernels::JpegPicture read_jpeg_coefficients(std::span<const std::byte> bytes,
                                            std::string_view origin, std::span<std::int16_t> to,
                                            std::int64_t offset) {
  require_jpeg(bytes, origin);
  JpegDecoder decoder(bytes, origin);
  decoder.read_header();
  require_known(decoder.header(), origin);
  const std::int64_t wanted = extent_of(decoder.header()).coefficients();
  if (static_cast<std::int64_t>(to.size()) < wanted)
    fail_input("{}: {} coefficients where there were {}. Do not change files while they are read.",
               escape_terminal(origin), wanted, to.size());
  kernels::JpegPicture picture = layout_of(decoder.header(), offset);
  decoder.run([&](jpeg_decompress_struct& jpeg) {
    jvirt_barray_ptr* const arrays = jpeg_read_coefficients(&jpeg);
    for (int c = 0; c < picture.planes; ++c) {
      kernels::JpegPlane& plane = picture.plane[c];
      const std::size_t row = 64 * static_cast<std::size_t>(plane.blocks_wide);
      std::int16_t* at = to.data() + (plane.offset - offset);
      for (int y = 0; y < plane.blocks_high; ++y, at += row)
        std::memcpy(at,
                    jpeg.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&jpeg), arrays[c],
                                                 static_cast<JDIMENSION>(y), 1, FALSE)[0],
                    row * sizeof(JCOEF));
      // A component without a scan has no table; all its coefficients are 0.
      if (const JQUANT_TBL* table = jpeg.comp_info[c].quant_table)
        std::copy_n(table->quantval, 64, plane.steps);
    }
  });
  decoder.finish();
  return picture;
}

}  // namespace headway::trainer
