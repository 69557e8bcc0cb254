// SPDX-License-Identifier: MIT
#include "reference_trainer/switches/switches.h"

#include <doctest/doctest.h>

#include <fstream>
#include <set>

#include "common/error.h"
#include "common/nvtx_conventions.h"

namespace headway::trainer {

TEST_CASE("docs/reference/trainer.md is what --reference prints") {
  std::ifstream file(std::string(HEADWAY_SOURCE_DIR) + "/docs/reference/trainer.md");
  const std::string committed{std::istreambuf_iterator<char>(file), {}};
  // If this fails: build/dev/bin/headway-train --reference > docs/reference/trainer.md
  CHECK(committed == reference_markdown());
}

TEST_CASE("every switch has a name of its own, help, and a default that it accepts") {
  std::set<std::string_view> names;
  const Settings defaults;
  for (const Switch& one : all_switches()) {
    CAPTURE(one.name);
    CHECK(names.insert(one.name).second);
    CHECK(!one.help.empty());
    CHECK(!one.values.empty());
    CHECK(one.name.size() < sizeof(conventions::SettingPayload::name));
    Settings changed;
    one.set(changed, one.get(defaults));
    CHECK(one.get(changed) == one.get(defaults));
  }
}

TEST_CASE("a wrong value lists the legal ones and a near miss gets a suggestion") {
  EffectiveSettings settings;
  CHECK_THROWS_WITH_AS(settings.apply("fused_bn", "maybe"), doctest::Contains("on, off"), Error);
  CHECK_THROWS_WITH_AS(settings.apply("h2d", "prefetsh"), doctest::Contains("'prefetch'"), Error);
  CHECK_THROWS_WITH_AS(settings.apply("batch", "0"), doctest::Contains("1 to 65536"), Error);
  CHECK_THROWS_WITH_AS(settings.apply("batch", "12x"), doctest::Contains("1 to 65536"), Error);
  CHECK_THROWS_WITH_AS(settings.apply("depth", "21"), doctest::Contains("20"), Error);
  CHECK_THROWS_WITH_AS(settings.apply("launch_us", "nan"), doctest::Contains("0 to"), Error);
  CHECK_THROWS_WITH_AS(settings.apply("sync", "0"), doctest::Contains("never"), Error);
  CHECK_THROWS_WITH_AS(settings.apply("wrokers", "1"), doctest::Contains("'workers'"), Error);
  CHECK_THROWS_WITH_AS(find_preset("helthy"), doctest::Contains("'healthy'"), Error);
}

TEST_CASE("dashes and underscores are the same in names") {
  EffectiveSettings settings;
  settings.apply("fused-bn", "off");
  CHECK(!settings.values().fused_bn);
}

TEST_CASE("every preset applies, and a later value wins over it") {
  std::set<std::string_view> names;
  for (const Preset& preset : all_presets()) {
    CHECK(names.insert(preset.name).second);
    EffectiveSettings settings;
    settings.apply(preset, DeviceKind::kHost);
    CHECK(settings.preset() == preset.name);
    settings.apply("batch", "7");
    CHECK(settings.values().batch == 7);
    CHECK(settings.table().find("command line") != std::string::npos);
    CHECK(settings.table().find("preset " + std::string(preset.name)) != std::string::npos);
  }
  for (const char* wanted : {"healthy", "input-bound", "launch-bound", "host-sync", "unfused"})
    CHECK(names.contains(wanted));
}

TEST_CASE("sync takes words and numbers") {
  EffectiveSettings settings;
  for (const auto& [text, ops] : {std::pair{"never", 0}, {"op", 1}, {"12", 12}}) {
    settings.apply("sync", text);
    CHECK(settings.values().sync.ops == ops);
    CHECK(find_switch("sync").get(settings.values()) == text);
  }
}

}  // namespace headway::trainer
