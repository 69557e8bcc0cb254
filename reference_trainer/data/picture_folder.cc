// SPDX-License-Identifier: MIT
#include "reference_trainer/data/picture_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "common/error.h"
#include "common/text.h"
#include "reference_trainer/data/picture.h"
#include "reference_trainer/data/random.h"
#include "reference_trainer/data/shapes.h"
#include "reference_trainer/data/transforms.h"

namespace headway::trainer {
namespace {

namespace fs = std::filesystem;

bool is_picture(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

std::vector<fs::path> sorted_entries(const fs::path& folder, bool folders) {
  std::vector<fs::path> entries;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    std::error_code ignored;
    const bool wanted = folders ? entry.is_directory(ignored)
                                : entry.is_regular_file(ignored) && is_picture(entry.path());
    if (wanted) entries.push_back(entry.path());
  }
  if (code)
    fail_input(
        "{}: cannot list the folder: {}. Name a folder of pictures with --picture-dir, or use "
        "--data generated-pictures.",
        escape_terminal(folder.string()), code.message());
  std::ranges::sort(entries);
  return entries;
}

void decode_to(std::span<const std::byte> bytes, std::string_view origin, Canvas canvas,
               std::span<std::uint8_t> pixels) {
  const Picture picture = decode_picture(bytes, origin);
  const Box part = canvas.whole
                       ? Box{0, 0, 1, 1, 0}
                       : centred_part(picture.height, picture.width, canvas.height, canvas.width);
  resize(picture.rgb, picture.height, picture.width, part, canvas.height, canvas.width, pixels);
}

std::vector<std::byte> read_whole(const fs::path& path) {
  std::vector<std::byte> bytes;
  Storage().read_file(path, bytes);
  return bytes;
}

std::size_t canvas_bytes(Canvas canvas) {
  return static_cast<std::size_t>(canvas.height) * static_cast<std::size_t>(canvas.width) * 3;
}

class PictureFiles final : public SampleSource {
 public:
  PictureFiles(const PictureSet& set, Canvas canvas, Storage& storage)
      : set_(set), canvas_(canvas), storage_(storage) {}

  std::int64_t count() const override { return static_cast<std::int64_t>(set_.files.size()); }
  std::int64_t bytes(std::span<const std::int64_t> samples) const override {
    std::int64_t sum = 0;
    for (std::int64_t sample : samples) sum += file(sample).bytes;
    return sum;
  }
  void read(std::span<const std::int64_t> samples, EncodedBatch& into) override {
    into.samples.clear();
    into.shards.clear();
    into.files.resize(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const fs::path path = set_.root / file(samples[i]).path;
      storage_.read_file(path, into.files[i]);
      into.samples.push_back({into.files[i], file(samples[i]).label, path.string()});
    }
  }
  void decode(const EncodedBatch::Sample& sample, std::span<std::uint8_t> pixels) const override {
    decode_to(sample.bytes, sample.origin, canvas_, pixels);
  }
  Picture decode_whole(const EncodedBatch::Sample& sample) const override {
    return decode_picture(sample.bytes, sample.origin);
  }

 private:
  const PictureSet::File& file(std::int64_t sample) const {
    return set_.files[static_cast<std::size_t>(sample)];
  }
  const PictureSet set_;
  const Canvas canvas_;
  Storage& storage_;
};

// ---- generated pictures ----

Picture draw(int shape, Random& random) {
  Picture picture;
  picture.height = 120 + static_cast<int>(random.below(281));
  picture.width = 120 + static_cast<int>(random.below(281));
  auto colour = [&] {
    std::array<double, 3> rgb{};
    for (double& value : rgb) value = 255 * random.uniform();
    return rgb;
  };
  const std::array<double, 3> ground = colour();
  std::array<double, 3> shade = colour();
  while (std::abs(shade[0] - ground[0]) + std::abs(shade[1] - ground[1]) +
             std::abs(shade[2] - ground[2]) <
         150)
    shade = colour();
  const double size = (0.25 + 0.2 * random.uniform()) * std::min(picture.height, picture.width);
  const double cx = picture.width * (0.35 + 0.3 * random.uniform());
  const double cy = picture.height * (0.35 + 0.3 * random.uniform());
  const double turn = 0.6 * (random.uniform() - 0.5);
  picture.rgb.resize(static_cast<std::size_t>(picture.height) * picture.width * 3);
  std::size_t at = 0;
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      const double dx = (x - cx) / size;
      const double dy = (y - cy) / size;
      const bool in = inside_shape(shape, dx * std::cos(turn) + dy * std::sin(turn),
                                   dy * std::cos(turn) - dx * std::sin(turn));
      const double noise = 24 * (random.uniform() - 0.5);
      for (std::size_t c = 0; c < 3; ++c)
        picture.rgb[at++] =
            static_cast<std::uint8_t>(std::clamp((in ? shade[c] : ground[c]) + noise, 0.0, 255.0));
    }
  }
  return picture;
}

}  // namespace

std::uint64_t fnv1a(std::string_view text, std::uint64_t value) {
  for (char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return value;
}

PictureSet list_pictures(const fs::path& root, bool test, std::int64_t most) {
  PictureSet set;
  set.root = root;
  std::uint64_t identity = fnv1a(root.string());
  std::vector<std::pair<std::uint64_t, PictureSet::File>> mixed;
  for (const fs::path& folder : sorted_entries(root, true)) {
    const std::size_t before = mixed.size();
    for (const fs::path& path : sorted_entries(folder, false)) {
      const std::string below = fs::relative(path, root).string();
      const std::uint64_t key = fnv1a(below);
      std::error_code ignored;
      const auto bytes = static_cast<std::int64_t>(fs::file_size(path, ignored));
      identity = fnv1a(std::to_string(bytes), identity ^ key);
      if ((key % 10 == 0) != test) continue;
      mixed.push_back({key, {below, static_cast<std::uint8_t>(set.classes.size()), bytes}});
    }
    // A class without training pictures has no number; testing uses the same numbers.
    if (mixed.size() > before || test) set.classes.push_back(folder.filename().string());
  }
  if (set.classes.size() < 2 || mixed.empty())
    fail_input(
        "{}: {} pictures (JPEG, PNG) in {} folders; two or more folders of pictures, one per "
        "class, are needed.",
        escape_terminal(root.string()), mixed.size(), set.classes.size());
  if (set.classes.size() > 256)
    fail_input("{}: {} classes; at most 256 are supported.", escape_terminal(root.string()),
               set.classes.size());
  std::ranges::sort(mixed, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second.path < b.second.path;
  });
  for (auto& [key, file] : mixed) {
    if (most > 0 && static_cast<std::int64_t>(set.files.size()) == most) break;
    set.files.push_back(std::move(file));
  }
  set.name =
      fmt::format("pictures-{:08x}", static_cast<std::uint32_t>(identity ^ (identity >> 32)));
  set.description =
      fmt::format("{} ({} classes)", escape_terminal(root.string()), set.classes.size());
  return set;
}

fs::path generate_pictures(std::uint64_t seed, std::int64_t count, const fs::path& cache,
                           const LayoutProgress& progress) {
  const fs::path root = cache / fmt::format("generated-pictures-{}", seed);
  std::error_code code;
  for (int shape = 0; shape < kShapes && !code; ++shape)
    fs::create_directories(root / fmt::format("shape{}", shape), code);
  if (code)
    fail_input("{}: cannot create the folder: {}. Choose another cache with --cache-dir.",
               escape_terminal(root.string()), code.message());
  for (std::int64_t i = 0; i < count; ++i) {
    const int shape = static_cast<int>(i % kShapes);
    const fs::path path = root / fmt::format("shape{}", shape) / fmt::format("{:06}.jpg", i);
    if (fs::exists(path, code)) continue;
    Random random(seed, 0x91C7, static_cast<std::uint64_t>(i));
    write_whole_file(path, encode_jpeg(draw(shape, random), 85));
    if (i % 100 == 99) progress(i + 1, count);
  }
  return root;
}

std::unique_ptr<SampleSource> open_picture_files(const PictureSet& set, Canvas canvas,
                                                 Storage& storage) {
  return std::make_unique<PictureFiles>(set, canvas, storage);
}

fs::path lay_out_picture_shards(const PictureSet& set, Canvas canvas, bool decoded,
                                const fs::path& cache, const LayoutProgress& progress) {
  ShardContents contents;
  contents.count = static_cast<std::int64_t>(set.files.size());
  contents.height = decoded ? canvas.height : 0;
  contents.width = decoded ? canvas.width : 0;
  contents.label = [&set](std::int64_t i) { return set.files[static_cast<std::size_t>(i)].label; };
  contents.record = [&set, canvas, decoded](std::int64_t i) {
    const fs::path path = set.root / set.files[static_cast<std::size_t>(i)].path;
    std::vector<std::byte> bytes = read_whole(path);
    if (!decoded) return bytes;
    std::vector<std::byte> pixels(canvas_bytes(canvas));
    decode_to(bytes, path.string(), canvas,
              {reinterpret_cast<std::uint8_t*>(pixels.data()), pixels.size()});
    return pixels;
  };
  const std::string kind = decoded ? fmt::format("train-shards-{}x{}{}", canvas.height,
                                                 canvas.width, canvas.whole ? "-whole" : "")
                                   : std::string("train-shards");
  return lay_out_shards(contents, set.name, kind, cache, progress);
}

std::unique_ptr<SampleSource> open_picture_shards(const fs::path& folder, std::int64_t count,
                                                  Canvas canvas, bool decoded, Storage& storage,
                                                  int workers) {
  ShardFormat format;
  format.height = decoded ? canvas.height : 0;
  format.width = decoded ? canvas.width : 0;
  format.decode = [canvas, decoded](const EncodedBatch::Sample& sample,
                                    std::span<std::uint8_t> pixels) {
    if (decoded) return copy_pixels(sample, pixels);
    decode_to(sample.bytes, sample.origin, canvas, pixels);
  };
  format.decode_whole = [canvas, decoded](const EncodedBatch::Sample& sample) {
    if (!decoded) return decode_picture(sample.bytes, sample.origin);
    Picture picture{canvas.height, canvas.width, std::vector<std::uint8_t>(canvas_bytes(canvas))};
    copy_pixels(sample, picture.rgb);
    return picture;
  };
  return open_shards(folder, count, format, storage, workers);
}

}  // namespace headway::trainer
