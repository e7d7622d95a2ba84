"""A plugin of one's own: a source file in a directory that the campaign names, and no other edit."""

from __future__ import annotations

import xarray as xr
from checkout import Checkout

CODEC = r"""
#include "collpress/codec.h"
#include <stdlib.h>
#include <string.h>

/* float32 only: keeps the upper half of each value. */
static void *create(const collpress_codec_config *config, collpress_codec_result *result) {
    *result = config->dtype == COLLPRESS_FLOAT32 ? COLLPRESS_CODEC_OK : COLLPRESS_CODEC_UNSUPPORTED;
    return *result == COLLPRESS_CODEC_OK ? malloc(1) : NULL;
}
static void destroy(void *context) { free(context); }
static size_t max_bytes(const void *context, size_t count) { (void)context; return 2 * count; }
static collpress_codec_result compress(void *context, const void *in, size_t count, void *out, size_t capacity,
                                       size_t *bytes) {
    (void)context;
    if (capacity < 2 * count) return COLLPRESS_CODEC_SMALL_BUFFER;
    for (size_t i = 0; i < count; ++i) memcpy((char *)out + 2 * i, (const char *)in + 4 * i + 2, 2);
    *bytes = 2 * count;
    return COLLPRESS_CODEC_OK;
}
static collpress_codec_result decompress(void *context, const void *in, size_t bytes, void *out, size_t count) {
    (void)context;
    if (bytes != 2 * count) return COLLPRESS_CODEC_BAD_STREAM;
    memset(out, 0, 4 * count);
    for (size_t i = 0; i < count; ++i) memcpy((char *)out + 4 * i + 2, (const char *)in + 2 * i, 2);
    return COLLPRESS_CODEC_OK;
}
static double worst_error(const void *context, double max_abs) { (void)context; return max_abs / 128; }

static const collpress_codec codec = {COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT32), 0, 0, create, destroy, max_bytes,
                                      compress, decompress, worst_error, NULL};
static const collpress_plugin_t plugin = {COLLPRESS_ABI_VERSION, COLLPRESS_CODEC, "upper halves, for a test", &codec};
const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
"""

CAMPAIGN = """\
title: With a codec of one's own
plugins: [own]
experiments:
  squeezed:
    matrix:
      collective: allreduce
      algorithm: compressed:ring
      codec: [upper_half, bf16]
      dataset: synthetic/normal
      message_bytes: 64Ki
      ranks: 2
measure: {launches: 1, precision: 20%, at_most: 100 ms}
figures: [coverage]
"""


def test_a_source_dropped_into_a_named_directory_is_built_loaded_and_measured(copy_checkout: Checkout) -> None:
    copy_checkout.campaign(CAMPAIGN, "owned")
    own = copy_checkout.root / "config/campaigns/own"
    own.mkdir(exist_ok=True)
    (own / "upper_half.c").write_text(CODEC, encoding="utf-8")
    done = copy_checkout.run("owned")
    assert done.returncode == 0, done.stdout + done.stderr
    statuses = {row["requested"]["codec"]: row["status"] for row in copy_checkout.records("owned")}
    assert statuses == {"upper_half": "ok", "bf16": "ok"}


METRIC = r"""
#include "collpress/metric.hpp"

class Overshoots {
  public:
    static constexpr collpress_metric_value values[] = {{"share", "1"}};
    explicit Overshoots(const collpress_metric_config &config) : count_(static_cast<double>(config.count)) {}
    void add(const double *expected, const double *got, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) larger_ += got[i] > expected[i] ? 1 : 0;
    }
    const char *finish(double *result) {
        *result = larger_ / count_;
        return nullptr;
    }

  private:
    double count_;
    double larger_ = 0;
};

COLLPRESS_METRIC_PLUGIN(Overshoots, "share of the values that became larger")
"""


def test_a_metric_dropped_into_a_named_directory_is_measured_and_stands_in_the_cube(copy_checkout: Checkout) -> None:
    copy_checkout.campaign(CAMPAIGN.replace("own]", "judges]").replace("upper_half", "int8"), "judged")
    judges = copy_checkout.root / "config/campaigns/judges"
    judges.mkdir(exist_ok=True)
    (judges / "overshoots.cpp").write_text(METRIC, encoding="utf-8")
    done = copy_checkout.run("judged")
    assert done.returncode == 0, done.stdout + done.stderr
    with xr.open_datatree(copy_checkout.results("judged") / "cube.nc") as cube:
        group = cube["squeezed"].load()
    for name in ("message_overshoots", "result_overshoots", "message_cosine"):
        assert ((group[name] > 0) & (group[name] < 1)).all(), name


def test_a_plugin_that_does_not_compile_fails_its_points_and_no_others(copy_checkout: Checkout) -> None:
    copy_checkout.campaign(CAMPAIGN.replace("own]", "broken]").replace("upper_half", "typo"), "broken")
    broken = copy_checkout.root / "config/campaigns/broken"
    broken.mkdir(exist_ok=True)
    (broken / "typo.cpp").write_text("int this is no C++;\n", encoding="utf-8")
    done = copy_checkout.run("broken")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "typo.cpp" in done.stderr
    assert {row["requested"]["codec"]: row["status"] for row in copy_checkout.records("broken")} == {"bf16": "ok"}


def test_a_codec_of_the_project_that_does_not_compile_stops_the_run_and_loses_nothing(copy_checkout: Checkout) -> None:
    before, built = copy_checkout.measured(), copy_checkout.build_hashes()
    source = copy_checkout.root / "native/src/codecs/bf16.cpp"
    text = source.read_text(encoding="utf-8")
    source.write_text(text + "\nint this is no C++;\n", encoding="utf-8")
    try:
        done = copy_checkout.run()
    finally:
        source.write_text(text, encoding="utf-8")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "bf16.cpp:" in done.stderr
    assert "what was measured before is kept" in done.stderr
    assert "Traceback" not in done.stderr
    assert before
    assert copy_checkout.measured() == before
    assert copy_checkout.build_hashes() == built
    again = copy_checkout.run()
    assert again.returncode == 0, again.stdout + again.stderr
    assert copy_checkout.measured() == before
