// SPDX-License-Identifier: MIT
// Batches of labelled images that the device makes from their bytes.
#include "reference_trainer/data/batch_maker.h"
#include "reference_trainer/data/loader.h"
#include "reference_trainer/nvtx/emitter.h"

namespace headway::trainer {
namespace {

using conventions::RangeKind;

class PackedMaker final : public BatchMaker {
 public:
  PackedMaker(SampleSource& source, const LoaderOptions& options)
      : source_(source), options_(options), packed_(*options.packed) {}

  void make(Batch& batch, std::int64_t epoch, std::span<const std::int64_t> samples) override {
    nvtx::Range whole(batch_, stage_payload(RangeKind::kBatch, batch.id, format().usual_payload));
    {
      nvtx::Range stage(read_, stage_payload(RangeKind::kRead, batch.id, source_.bytes(samples)));
      source_.read(samples, encoded_);
    }
    packed_.begin(batch);
    {
      nvtx::Range stage(decode_,
                        stage_payload(RangeKind::kDecode, batch.id, format().usual_payload));
      for (const EncodedBatch::Sample& sample : encoded_.samples) decode(sample);
    }
    nvtx::Range stage(collate_,
                      stage_payload(RangeKind::kCollate, batch.id, format().places().payload));
    auto* labels = batch.labels.as<std::int32_t>();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      labels[i] = encoded_.samples[i].label;
      Random random(options_.seed, static_cast<std::uint64_t>(epoch),
                    static_cast<std::uint64_t>(samples[i]));
      choose(i, random);
    }
    packed_.end();
  }

 private:
  const PackedFormat& format() const { return *options_.packed; }

  void decode(const EncodedBatch::Sample& sample) {
    if (format().kind == PackedFormat::Kind::kJpegs) {
      packed_.add_jpeg(sample.bytes, sample.origin);
    } else {
      source_.decode(sample, packed_.add_pixels());
    }
  }

  void choose(std::size_t i, Random& random) {
    if (format().kind == PackedFormat::Kind::kGrey) {
      packed_.shift(i, choose_shift(format().grey, random));
      return;
    }
    const kernels::PicturePart& picture = packed_.picture(i);
    packed_.crop(i, choose_part(format().colour, random, picture.height, picture.width));
    if (format().colour.random) packed_.recolour(i, choose_colours(format().colour.jitter, random));
  }

  SampleSource& source_;
  const LoaderOptions& options_;
  const nvtx::Name batch_ = nvtx::intern("batch");
  const nvtx::Name read_ = nvtx::intern("read");
  const nvtx::Name decode_ = nvtx::intern("decode");
  const nvtx::Name collate_ = nvtx::intern("collate");
  EncodedBatch encoded_;
  PackedBatch packed_;
};

}  // namespace

std::unique_ptr<BatchMaker> make_packed_maker(SampleSource& source, const LoaderOptions& options) {
  return std::make_unique<PackedMaker>(source, options);
}

}  // namespace headway::trainer
