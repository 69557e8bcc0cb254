// SPDX-License-Identifier: MIT
#pragma once

#include <stdio.h>  // NOLINT: jpeglib.h needs FILE, and does not include it

#include <jpeglib.h>
#include <csetjmp>
#include <cstddef>
#include <span>
#include <string_view>

namespace headway::trainer {

inline constexpr int kMostPictureSide = 20000;

/// libjpeg's state for one JPEG. libjpeg reports errors by a call that must not return, and
/// exceptions must not pass through libjpeg. So it is called only inside run(), which turns its
/// errors into an Error (bad input) that names `origin`. Both arguments must outlive the decoder.
/// The destructor frees the memory in every case.
class JpegDecoder {
 public:
  enum class Input {
    kWhole,     ///< all bytes of a JPEG
    kBeginning  ///< perhaps cut off
  };
  JpegDecoder(std::span<const std::byte> bytes, std::string_view origin,
              Input input = Input::kWhole);
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  /// Reads up to the first scan. Returns false when a beginning ends before it. Fails for more than
  /// 20000 pixels a side.
  bool read_header();
  /// The header that was read.
  const jpeg_decompress_struct& header() const { return jpeg_; }
  /// Calls body(jpeg_decompress_struct&). libjpeg may jump out of any of its calls, so `body` must
  /// not own anything meanwhile.
  template <class Body>
  void run(const Body& body) {
    if (setjmp(back_) != 0) fail(text_);  // NOLINT(cert-err52-cpp): libjpeg's interface
    body(jpeg_);
  }
  /// Reads to the end of the file. Fails when libjpeg warned of damage, which it fills with grey.
  void finish();

 private:
  /// A constructor by itself, so that the destructor runs when the rest of construction fails.
  explicit JpegDecoder(std::string_view origin);
  [[noreturn]] void fail(std::string_view why) const;
  static void on_error(j_common_ptr jpeg);
  static void on_message(j_common_ptr jpeg, int level);

  std::string_view origin_;
  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf back_{};
  char text_[JMSG_LENGTH_MAX] = {};  ///< of the error, or of the first warning
};

}  // namespace headway::trainer
