// SPDX-License-Identifier: MIT
#include "reference_trainer/data/composites.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/text.h"
#include "reference_trainer/data/box_folder.h"
#include "reference_trainer/data/picture.h"
#include "reference_trainer/data/random.h"
#include "reference_trainer/data/shapes.h"
#include "reference_trainer/data/storage.h"
#include "reference_trainer/data/transforms.h"

namespace headway::trainer {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

using Colour = std::array<double, 3>;

/// Pixels with a lower alpha count as invisible.
constexpr std::uint8_t kVisible = 32;

Colour any_colour(Random& random) {
  Colour colour{};
  for (double& value : colour) value = 255 * random.uniform();
  return colour;
}

/// A colour gradient with grain.
Picture background(Random& random) {
  Picture picture;
  picture.height = 200 + static_cast<int>(random.below(201));
  picture.width = 200 + static_cast<int>(random.below(201));
  const Colour from = any_colour(random);
  const Colour to = any_colour(random);
  const double turn = 6.283185307179586 * random.uniform();
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x) {
      const double along = (std::cos(turn) * (x - picture.width / 2.0) / picture.width +
                            std::sin(turn) * (y - picture.height / 2.0) / picture.height);
      const double share = std::clamp(along / 1.4142 + 0.5, 0.0, 1.0);
      const double grain = 20 * (random.uniform() - 0.5);
      for (std::size_t c = 0; c < 3; ++c)
        picture.rgb.push_back(static_cast<std::uint8_t>(
            std::clamp(from[c] + share * (to[c] - from[c]) + grain, 0.0, 255.0)));
    }
  return picture;
}

Cutout draw_shape(int shape, int size, Random& random) {
  Cutout cutout;
  cutout.picture.height = size;
  cutout.picture.width = size;
  const Colour colour = any_colour(random);
  const double turn = 0.6 * (random.uniform() - 0.5);
  const double radius = size / 2.0;
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x) {
      const double dx = (x + 0.5 - radius) / radius;
      const double dy = (y + 0.5 - radius) / radius;
      const bool in = inside_shape(shape, dx * std::cos(turn) + dy * std::sin(turn),
                                   dy * std::cos(turn) - dx * std::sin(turn));
      for (double value : colour) cutout.picture.rgb.push_back(static_cast<std::uint8_t>(value));
      cutout.alpha.push_back(in ? 255 : 0);
    }
  return cutout;
}

/// An image of `size` pixels on its longer side. Colours are weighted by their alpha, so that
/// invisible colours do not bleed into the edges.
Cutout scaled(const Cutout& from, int size) {
  const int longer = std::max(from.picture.height, from.picture.width);
  auto extent = [&](int pixels) { return std::max(1, pixels * size / longer); };
  Cutout to;
  to.picture.height = extent(from.picture.height);
  to.picture.width = extent(from.picture.width);
  std::vector<std::uint8_t> weighted(from.picture.rgb.size());
  std::vector<std::uint8_t> alphas(weighted.size());
  for (std::size_t i = 0; i < weighted.size(); ++i) {
    alphas[i] = from.alpha[i / 3];
    weighted[i] = static_cast<std::uint8_t>(from.picture.rgb[i] * alphas[i] / 255);
  }
  auto resample = [&](const std::vector<std::uint8_t>& pixels) {
    std::vector<std::uint8_t> result(static_cast<std::size_t>(to.picture.height) *
                                     static_cast<std::size_t>(to.picture.width) * 3);
    resize(pixels, from.picture.height, from.picture.width, {0, 0, 1, 1, 0}, to.picture.height,
           to.picture.width, result);
    return result;
  };
  to.picture.rgb = resample(weighted);
  const std::vector<std::uint8_t> alpha = resample(alphas);
  for (std::size_t i = 0; i < alpha.size(); i += 3) to.alpha.push_back(alpha[i]);
  return to;
}

/// The pixels [left, right) x [top, bottom).
struct PixelBox {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;
};

/// The bounds of the visible pixels of a cutout; empty when there are none.
PixelBox bounds(const Cutout& cutout) {
  PixelBox box{cutout.picture.width, cutout.picture.height, 0, 0};
  for (int y = 0; y < cutout.picture.height; ++y)
    for (int x = 0; x < cutout.picture.width; ++x) {
      if (cutout
              .alpha[static_cast<std::size_t>(y) * static_cast<std::size_t>(cutout.picture.width) +
                     static_cast<std::size_t>(x)] < kVisible)
        continue;
      box.left = std::min(box.left, x);
      box.top = std::min(box.top, y);
      box.right = std::max(box.right, x + 1);
      box.bottom = std::max(box.bottom, y + 1);
    }
  return box;
}

void paste(const Cutout& cutout, int left, int top, Picture& on) {
  for (int y = 0; y < cutout.picture.height; ++y)
    for (int x = 0; x < cutout.picture.width; ++x) {
      const auto from =
          static_cast<std::size_t>(y) * static_cast<std::size_t>(cutout.picture.width) +
          static_cast<std::size_t>(x);
      const int to_y = top + y;
      const int to_x = left + x;
      if (cutout.alpha[from] < kVisible || to_y < 0 || to_x < 0 || to_y >= on.height ||
          to_x >= on.width)
        continue;
      std::uint8_t* to = &on.rgb[static_cast<std::size_t>(to_y * on.width + to_x) * 3];
      for (std::size_t c = 0; c < 3; ++c)
        to[c] = static_cast<std::uint8_t>(std::min(
            255, cutout.picture.rgb[from * 3 + c] + to[c] * (255 - cutout.alpha[from]) / 255));
    }
}

Box relative(const PixelBox& box, const Picture& in, int label) {
  const auto width = static_cast<float>(in.width);
  const auto height = static_cast<float>(in.height);
  return {static_cast<float>(box.left) / width, static_cast<float>(box.top) / height,
          static_cast<float>(box.right) / width, static_cast<float>(box.bottom) / height, label};
}

class Composer {
 public:
  explicit Composer(const CompositeOptions& options) : options_(options) {}

  std::vector<std::string> classes() const {
    if (options_.objects) return options_.objects->classes;
    std::vector<std::string> names;
    for (int shape = 0; shape < kShapes; ++shape) names.push_back(fmt::format("shape{}", shape));
    return names;
  }

  /// Picture number `number` and the boxes in it.
  Picture compose(std::int64_t number, std::vector<std::pair<PixelBox, int>>& boxes) const {
    Random random(options_.seed, 0xB0C5, static_cast<std::uint64_t>(number));
    Picture picture = background(random);
    const auto wanted = 1 + random.below(6);
    std::vector<Box> placed;
    for (std::uint64_t i = 0; i < wanted; ++i) place(random, picture, placed, boxes);
    return picture;
  }

 private:
  /// Puts an object where it hides little of the others, or leaves it out when there is no such
  /// place.
  void place(Random& random, Picture& picture, std::vector<Box>& placed,
             std::vector<std::pair<PixelBox, int>>& boxes) const {
    constexpr int kTries = 10;
    constexpr float kMostOverlap = 0.15F;
    const int shorter = std::min(picture.height, picture.width);
    const int size = static_cast<int>(shorter * (0.2 + 0.4 * random.uniform()));
    int label = 0;
    const Cutout object = any_object(random, size, label);
    const PixelBox visible = bounds(object);
    if (visible.right - visible.left < 4 || visible.bottom - visible.top < 4) return;
    for (int i = 0; i < kTries; ++i) {
      const int room_x = picture.width - (visible.right - visible.left);
      const int room_y = picture.height - (visible.bottom - visible.top);
      const int x = static_cast<int>(random.below(static_cast<std::uint64_t>(room_x) + 1));
      const int y = static_cast<int>(random.below(static_cast<std::uint64_t>(room_y) + 1));
      const PixelBox box{x, y, x + visible.right - visible.left, y + visible.bottom - visible.top};
      const Box part = relative(box, picture, label);
      const bool hides = std::ranges::any_of(
          placed, [&](const Box& other) { return iou(part, other) > kMostOverlap; });
      if (hides) continue;
      paste(object, x - visible.left, y - visible.top, picture);
      placed.push_back(part);
      boxes.emplace_back(box, label);
      return;
    }
  }

  Cutout any_object(Random& random, int size, int& label) const {
    if (!options_.objects) {
      label = static_cast<int>(random.below(kShapes));
      return draw_shape(label, size, random);
    }
    const auto& files = options_.objects->files;
    const PictureSet::File& file = files[random.below(files.size())];
    label = file.label;
    const fs::path path = options_.objects->root / file.path;
    std::vector<std::byte> bytes;
    Storage().read_file(path, bytes);
    return scaled(decode_cutout(bytes, path.string()), size);
  }

  const CompositeOptions& options_;
};

Json categories(const std::vector<std::string>& names) {
  Json all = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) all.push_back({{"id", i + 1}, {"name", names[i]}});
  return all;
}

}  // namespace

fs::path write_composites(const CompositeOptions& options, const fs::path& cache,
                          const LayoutProgress& progress) {
  const fs::path root =
      cache / fmt::format("composites-{}-{}-{}", options.objects ? options.objects->name : "shapes",
                          options.seed, options.count);
  std::error_code code;
  if (fs::exists(root / kAnnotations, code)) return root;  // it is written last
  fs::create_directories(root / "images", code);
  if (code)
    fail_input("{}: cannot create the folder: {}. Choose another cache with --cache-dir.",
               escape_terminal(root.string()), code.message());
  const Composer composer(options);
  Json images = Json::array();
  Json annotations = Json::array();
  for (std::int64_t i = 0; i < options.count; ++i) {
    std::vector<std::pair<PixelBox, int>> boxes;
    const Picture picture = composer.compose(i, boxes);
    const std::string name = fmt::format("images/{:06}.jpg", i);
    write_whole_file(root / name, encode_jpeg(picture, 85));
    images.push_back(
        {{"id", i + 1}, {"file_name", name}, {"width", picture.width}, {"height", picture.height}});
    for (const auto& [box, label] : boxes) {
      const int width = box.right - box.left;
      const int height = box.bottom - box.top;
      annotations.push_back({{"id", annotations.size() + 1},
                             {"image_id", i + 1},
                             {"category_id", label + 1},
                             {"bbox", {box.left, box.top, width, height}},
                             {"area", width * height},
                             {"iscrowd", 0}});
    }
    if (i % 100 == 99) progress(i + 1, options.count);
  }
  const Json all = {
      {"info", {{"description", "objects on backgrounds, put together by headway-train"}}},
      {"images", std::move(images)},
      {"annotations", std::move(annotations)},
      {"categories", categories(composer.classes())}};
  // Class names come from folders, whose names need not be text.
  const std::string text = all.dump(1, ' ', false, Json::error_handler_t::replace);
  write_whole_file(root / kAnnotations, std::as_bytes(std::span(text)));
  return root;
}

}  // namespace headway::trainer
