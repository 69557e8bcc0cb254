// SPDX-License-Identifier: MIT
// JPEGs decoded in two halves, against libjpeg's decoder, and what is not decoded so.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <thread>

#include "common/error.h"
#include "reference_trainer/data/jpeg_coefficients.h"
#include "reference_trainer/data/jpeg_decoder.h"
#include "reference_trainer/data/picture.h"
#include "reference_trainer/data/png.h"

namespace headway::trainer {
namespace {

using Bytes = std::vector<std::byte>;

struct Form {
  int quality = 75;
  int columns_per_sample = 1;
  int rows_per_sample = 1;
  J_COLOR_SPACE space = JCS_YCbCr;
  bool progressive = false;
  bool arithmetic = false;
  int restart = 0;
  int filler = 0;  ///< bytes of metadata before the picture
};

/// `random`: noise, else waves with edges of full contrast.
Picture drawing(int height, int width, bool random) {
  Picture picture{height, width, {}};
  std::mt19937 noise(static_cast<unsigned>(height * 1000 + width));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c)
        picture.rgb.push_back(static_cast<std::uint8_t>(random ? noise() % 256
                                                        : (x / 11 + y / 7 + c) % 3 == 0
                                                            ? (x * 5 + y * 3) % 256
                                                            : 255 * (c == y % 3)));
  return picture;
}

Bytes encode(const Picture& picture, const Form& form) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = static_cast<JDIMENSION>(picture.width);
  jpeg.image_height = static_cast<JDIMENSION>(picture.height);
  const bool cmyk = form.space == JCS_CMYK;
  jpeg.input_components = cmyk ? 4 : 3;
  jpeg.in_color_space = cmyk ? JCS_CMYK : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_colorspace(&jpeg, form.space);
  jpeg_set_quality(&jpeg, form.quality, TRUE);
  jpeg.arith_code = form.arithmetic ? TRUE : FALSE;
  jpeg.restart_interval = static_cast<unsigned>(form.restart);
  if (form.space == JCS_YCbCr) {
    jpeg.comp_info[0].h_samp_factor = form.columns_per_sample;
    jpeg.comp_info[0].v_samp_factor = form.rows_per_sample;
  }
  if (form.progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  const std::vector<JOCTET> filler(60'000, 0x55);
  for (int left = form.filler; left > 0; left -= static_cast<int>(filler.size()))
    jpeg_write_marker(&jpeg, JPEG_APP0 + 5, filler.data(),
                      std::min(static_cast<unsigned>(left), static_cast<unsigned>(filler.size())));
  std::vector<JSAMPLE> row(static_cast<std::size_t>(picture.width) * 4);
  while (jpeg.next_scanline < jpeg.image_height) {
    const auto* from = picture.at(static_cast<int>(jpeg.next_scanline), 0);
    std::copy_n(from, 3 * picture.width, row.begin());
    JSAMPROW rows = row.data();
    jpeg_write_scanlines(&jpeg, &rows, 1);
  }
  jpeg_finish_compress(&jpeg);
  const auto* first = reinterpret_cast<const std::byte*>(bytes);
  Bytes result(first, first + size);
  jpeg_destroy_compress(&jpeg);
  std::free(bytes);
  return result;
}

/// Both halves.
Picture decode_by_halves(std::span<const std::byte> bytes, std::string_view origin = "memory") {
  const JpegExtent extent = *jpeg_extent(bytes, origin);
  std::vector<std::int16_t> coefficients(static_cast<std::size_t>(extent.coefficients()));
  kernels::JpegPicture picture = read_jpeg_coefficients(bytes, origin, coefficients);
  std::vector<std::uint8_t> samples(coefficients.size());
  Picture result{extent.height, extent.width, {}};
  result.rgb.resize(static_cast<std::size_t>(3 * extent.pixels()));
  kernels::run(kernels::DecodeJpegBlocks{1, extent.blocks, coefficients.data(), &picture,
                                         samples.data(), result.rgb.data()});
  return result;
}

std::string refusal(std::span<const std::byte> bytes) {
  try {
    std::vector<std::int16_t> coefficients(1 << 20);
    read_jpeg_coefficients(bytes, "some/picture.jpg", coefficients);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kBadInput);
    return error.what();
  }
  return "accepted";
}

void check_same(const Picture& drawn, const Form& form) {
  CAPTURE(drawn.height);
  CAPTURE(drawn.width);
  CAPTURE(form.quality);
  CAPTURE(form.columns_per_sample);
  CAPTURE(form.rows_per_sample);
  CAPTURE(form.progressive);
  const Bytes jpeg = encode(drawn, form);
  const Picture wanted = decode_picture(jpeg, "memory");
  const Picture got = decode_by_halves(jpeg);
  REQUIRE(got.height == wanted.height);
  REQUIRE(got.width == wanted.width);
  int worst = 0;
  for (std::size_t i = 0; i < wanted.rgb.size(); ++i)
    worst = std::max(worst, std::abs(got.rgb[i] - wanted.rgb[i]));
  CHECK(worst == 0);
}

}  // namespace

TEST_CASE("both halves give the bits of libjpeg: any size, sampling and quality, grey, noise") {
  for (const auto& [height, width] : {std::pair{1, 1},
                                      {2, 5},
                                      {9, 4},
                                      {5, 3},
                                      {7, 2},
                                      {3, 16},
                                      {8, 8},
                                      {16, 17},
                                      {33, 31},
                                      {50, 83},
                                      {97, 120}})
    for (const bool random : {false, true}) {
      const Picture drawn = drawing(height, width, random);
      for (const int quality : {5, 50, 75, 97, 100}) {
        check_same(drawn, {quality, 1, 1, JCS_GRAYSCALE});
        for (const int columns : {1, 2})
          for (const int rows : {1, 2}) check_same(drawn, {quality, columns, rows});
      }
    }
}

TEST_CASE("progressive, arithmetic and restarted files, too") {
  const Picture drawn = drawing(61, 45, false);
  for (const int columns : {1, 2})
    for (const int rows : {1, 2})
      for (const bool arithmetic : {false, true}) {
        check_same(drawn, {80, columns, rows, JCS_YCbCr, true, arithmetic});
        check_same(drawn, {80, columns, rows, JCS_YCbCr, false, arithmetic, 3});
      }
  check_same(drawn, {80, 1, 1, JCS_GRAYSCALE, true});
}

TEST_CASE("planes lie one after the other from where the caller says") {
  const Bytes jpeg = encode(drawing(17, 33, false), {75, 2, 2});
  const JpegExtent extent = *jpeg_extent(jpeg, "memory");
  CHECK(extent.height == 17);
  CHECK(extent.width == 33);
  CHECK(extent.pixels() == 17 * 33);
  CHECK(extent.blocks == 3 * 5 + 2 * (2 * 3));  // whole blocks, not whole groups of them
  std::vector<std::int16_t> room(static_cast<std::size_t>(extent.coefficients()) + 1, 77);
  const kernels::JpegPicture picture = read_jpeg_coefficients(jpeg, "memory", room, 640);
  CHECK(room.back() == 77);
  CHECK(picture.planes == 3);
  CHECK(picture.plane[0].offset == 640);
  CHECK(picture.plane[1].offset == 640 + 64 * 15);
  CHECK(picture.plane[2].offset == 640 + 64 * 21);
  CHECK(picture.plane[1].blocks_high == 2);
  CHECK(picture.plane[1].blocks_wide == 3);
  CHECK(picture.plane[1].rows_per_sample == 2);
  CHECK(picture.plane[1].columns_per_sample == 2);
  CHECK(picture.plane[0].rows_per_sample == 1);
  // Of ISO/IEC 10918-1, K.1, at half size (quality 75): (0, 1) is 11, (1, 0) is 12.
  CHECK(picture.plane[0].steps[1] == 6);
  CHECK(picture.plane[0].steps[8] == 6);
  CHECK(picture.plane[0].steps[2] == 5);
  CHECK(picture.plane[0].steps[16] == 7);
  room.pop_back();
  room.pop_back();
  CHECK_THROWS_WITH_AS(read_jpeg_coefficients(jpeg, "memory", room),
                       doctest::Contains("1728 coefficients where there were 1727"), Error);
}

TEST_CASE("the beginning of a file tells its extent once it has the header") {
  const Picture drawn = drawing(30, 40, true);
  for (const int filler : {0, 100, 200'000}) {
    CAPTURE(filler);
    const Bytes jpeg = encode(drawn, {75, 2, 1, JCS_YCbCr, false, false, 0, filler});
    std::size_t header = 0;
    while (!jpeg_extent(std::span(jpeg).first(header + 3), "memory"))
      header += filler > 1000 ? 97 : 1;
    CHECK(header + 3 > static_cast<std::size_t>(filler) + 300);
    CHECK(header + 3 < static_cast<std::size_t>(filler) + 800);
    CHECK(jpeg_extent(jpeg, "memory")->blocks == 4 * 5 + 2 * 4 * 3);
  }
}

TEST_CASE("what else there is under the name of JPEG is told, with what takes it") {
  const Picture drawn = drawing(20, 20, false);
  auto contains = [](const std::string& text, std::string_view part) {
    CAPTURE(text);
    CHECK(text.starts_with("some/picture.jpg: "));
    CHECK(text.find(part) != std::string::npos);
  };
  contains(refusal(encode(drawn, {75, 1, 1, JCS_RGB})), "RGB instead of YCbCr");
  contains(refusal(encode(drawn, {75, 1, 1, JCS_RGB})), "Use --decode step.");
  contains(refusal(encode(drawn, {75, 4, 1})), "1x1 samples of component 2 where 4x1 are most");
  contains(refusal(encode(drawn, {75, 4, 1})), "Use --decode step.");
  contains(refusal(encode(drawn, {75, 1, 1, JCS_CMYK})), "4 components");
  contains(refusal(encode_png(std::vector<std::uint8_t>(400), 20, 20)), "Use --decode step.");
  contains(refusal({}), "Use --decode step.");
  Bytes large = encode(drawn, {});
  // Of the frame header: its marker, 2 bytes of length, 1 of precision, 2 of height.
  const auto frame = std::ranges::search(large, std::vector{std::byte{0xFF}, std::byte{0xC0}});
  frame.begin()[4] = std::byte{12};
  contains(refusal(large), "12");
  frame.begin()[4] = std::byte{8};
  frame.begin()[5] = std::byte{20'001 >> 8}, frame.begin()[6] = std::byte{20'001 & 255};
  contains(refusal(large), "damaged JPEG: more than 20000 pixels a side");
}

TEST_CASE("a file cut off anywhere is told as decode_picture tells it") {
  for (const bool progressive : {false, true}) {
    const Bytes jpeg = encode(drawing(20, 24, false), {40, 2, 2, JCS_YCbCr, progressive});
    CHECK(refusal(jpeg) == "accepted");
    for (std::size_t length = 3; length < jpeg.size(); ++length) {
      CAPTURE(length);
      const auto part = std::span(jpeg).first(length);
      std::string wanted = "accepted";
      try {
        decode_picture(part, "some/picture.jpg");
      } catch (const Error& error) {
        wanted = error.what();
      }
      REQUIRE(wanted != "accepted");
      REQUIRE(refusal(part) == wanted);
    }
  }
}

TEST_CASE("damaged bytes give an error or a picture, the same picture as all at once") {
  std::mt19937 random(3);
  int same = 0, refused = 0, large = 0;
  for (int round = 0; round < 1200; ++round) {
    CAPTURE(round);
    const bool progressive = round % 3 == 2;
    Bytes jpeg = encode(drawing(37, 50, false), {60, 1 + round % 2, 1 + round / 2 % 2, JCS_YCbCr,
                                                 progressive, round % 5 == 4, round % 7});
    for (int flips = 1 + round % 3; flips > 0; --flips)
      jpeg[random() % (round % 2 ? jpeg.size() : std::min<std::size_t>(650, jpeg.size()))] ^=
          std::byte(1U << random() % 8);
    try {
      const auto extent = jpeg_extent(jpeg, "memory");
      if (extent && extent->blocks > 20'000) {
        ++large;
        continue;
      }
      if (!extent) {
        CHECK_THROWS_AS(decode_picture(jpeg, "memory"), Error);
        ++refused;
        continue;
      }
      const Picture got = decode_by_halves(jpeg);
      const Picture wanted = decode_picture(jpeg, "memory");
      REQUIRE(got.height == wanted.height);
      REQUIRE(got.width == wanted.width);
      same += got.rgb == wanted.rgb;
    } catch (const Error&) {
      ++refused;
    }
  }
  MESSAGE(same, " the same, ", refused, " refused, ", large, " large");
  CHECK(same > 50);
  CHECK(refused > 300);
}

TEST_CASE("threads decode beside each other") {
  const Bytes jpeg = encode(drawing(50, 60, false), {75, 2, 2});
  const Bytes bad(jpeg.begin(), jpeg.begin() + static_cast<std::ptrdiff_t>(jpeg.size() / 2));
  const Picture wanted = decode_picture(jpeg, "memory");
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (std::size_t t = 0; t < right.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        right[t] += decode_by_halves(jpeg).rgb == wanted.rgb;
        right[t] += refusal(bad) != "accepted";
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == std::vector<int>(4, 40));
}

}  // namespace headway::trainer
