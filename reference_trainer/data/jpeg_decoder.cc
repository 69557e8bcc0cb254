// SPDX-License-Identifier: MIT
#include "reference_trainer/data/jpeg_decoder.h"

#include <algorithm>

#include "common/error.h"
#include "common/text.h"

namespace headway::trainer {
namespace {

/// A source that ends: libjpeg then reports it instead of inventing an end of the picture.
extern "C" boolean no_more_bytes(j_decompress_ptr) {
  return FALSE;
}
extern "C" void skip_bytes(j_decompress_ptr jpeg, long count) {
  if (count <= 0) return;
  jpeg_source_mgr& source = *jpeg->src;
  const std::size_t skipped = std::min(source.bytes_in_buffer, static_cast<std::size_t>(count));
  source.next_input_byte += skipped;
  source.bytes_in_buffer -= skipped;
}

}  // namespace

JpegDecoder::JpegDecoder(std::string_view origin) : origin_(origin) {
  jpeg_.err = jpeg_std_error(&errors_);
  jpeg_.client_data = this;
  errors_.error_exit = on_error;
  errors_.emit_message = on_message;
}

JpegDecoder::JpegDecoder(std::span<const std::byte> bytes, std::string_view origin, Input input)
    : JpegDecoder(origin) {
  run([&](jpeg_decompress_struct& jpeg) {
    // This call first sets all fields but `err` and `client_data` to zero.
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(bytes.data()),
                 static_cast<unsigned long>(bytes.size()));
    if (input == Input::kWhole) return;
    jpeg.src->fill_input_buffer = no_more_bytes;
    jpeg.src->skip_input_data = skip_bytes;
  });
}

JpegDecoder::~JpegDecoder() {
  jpeg_destroy_decompress(&jpeg_);
}

void JpegDecoder::on_error(j_common_ptr jpeg) {
  auto* decoder = static_cast<JpegDecoder*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, decoder->text_);
  std::longjmp(decoder->back_, 1);  // NOLINT(cert-err52-cpp)
}

void JpegDecoder::on_message(j_common_ptr jpeg, int level) {
  auto* decoder = static_cast<JpegDecoder*>(jpeg->client_data);
  if (level >= 0) return;
  if (jpeg->err->num_warnings++ == 0) jpeg->err->format_message(jpeg, decoder->text_);
}

void JpegDecoder::fail(std::string_view why) const {
  fail_input("{}: damaged JPEG: {}. Replace or remove the file.", escape_terminal(origin_), why);
}

bool JpegDecoder::read_header() {
  int result = JPEG_SUSPENDED;
  run([&](jpeg_decompress_struct& jpeg) { result = jpeg_read_header(&jpeg, TRUE); });
  if (result == JPEG_SUSPENDED) return false;
  if (jpeg_.image_width > kMostPictureSide || jpeg_.image_height > kMostPictureSide)
    fail(fmt::format("more than {} pixels a side", kMostPictureSide));
  return true;
}

void JpegDecoder::finish() {
  run([](jpeg_decompress_struct& jpeg) { jpeg_finish_decompress(&jpeg); });
  if (errors_.num_warnings > 0) fail(text_);
}

}  // namespace headway::trainer
