// SPDX-License-Identifier: MIT
#pragma once

#include <zlib.h>

#include "trace/import/source/source.h"

namespace headway::trace::import_detail {

/// Decompresses the gzip members of another source.
class InflateSource : public Source {
 public:
  /// `name` is for messages.
  InflateSource(std::unique_ptr<Source> compressed, std::string name);
  ~InflateSource() override;
  InflateSource(const InflateSource&) = delete;
  InflateSource& operator=(const InflateSource&) = delete;

  std::size_t read(char* to, std::size_t size) override;
  double fraction() const override { return compressed_->fraction(); }
  bool cut() const override { return cut_; }

 private:
  bool refill();

  std::unique_ptr<Source> compressed_;
  std::string name_;
  std::vector<char> input_;
  std::int64_t input_end_ = 0;  ///< compressed bytes read so far
  z_stream stream_{};
  bool in_member_ = true;  ///< inside a gzip member, between its head and its end mark
  bool ended_ = false;
  bool cut_ = false;  ///< the input ended inside a member
};

}  // namespace headway::trace::import_detail
