// blosc2-shuffle: C-Blosc2, lossless: equal bytes (or bits) of neighbouring values side by side, then Zstandard or LZ4.
// Through libblosc2 (3.x): the one that COLLPRESS_BLOSC2_LIBRARY names (usually that of the wheel `blosc2`), else
// libblosc2.so wherever the loader finds it. Without it: UNSUPPORTED. The stream is that of bytes_codec.hpp, each chunk
// one chunk of Blosc2, made by one thread.
#include "bytes_codec.hpp"
#include "outside.hpp"

#include <mutex>
#include <string_view>

namespace {

using namespace collpress::codecs;

constexpr collpress_codec_parameter parameters[] = {
    {"compressor", "what compresses the shuffled bytes", "zstd|lz4", 0, 0, 1, 1},
    {"level", "Blosc2's level: 1 is the fastest, 9 the smallest", nullptr, 1, 1, 9, 1},
    {"filter", "what is put side by side: bytes (shuffle) or bits (bitshuffle)", "shuffle|bitshuffle", 0, 0, 1, 1},
};

constexpr int kFilters = 6;
constexpr std::size_t kHeader = 32, kTail = 128;

// blosc2_cparams and blosc2_dparams of C-Blosc2 3, as blosc2.h documents them. They are handed over by value; with the
// tail a later 3.x may have longer ones.
struct CompressionParameters {
    std::uint8_t compressor, compressor_meta, level;
    int use_dictionary;
    std::int32_t element_bytes;
    std::int16_t threads;
    std::int32_t block_bytes;
    std::int32_t split_mode;
    void *chunks;
    std::uint8_t filters[kFilters], filters_meta[kFilters];
    void *prefilter, *prefilter_parameters, *tuner_parameters;
    int tuner;
    bool instrumented;
    void *compressor_parameters, *filter_parameters[kFilters];
    unsigned char tail[kTail];
};
struct DecompressionParameters {
    std::int16_t threads;
    void *chunks, *postfilter, *postfilter_parameters;
    std::int32_t element_bytes;
    unsigned char tail[kTail];
};

class Blosc2 {
  public:
    static constexpr std::uint32_t magic = 0x31324243; // "CB21"

    Blosc2() = default;
    Blosc2(const Blosc2 &) = delete;
    Blosc2 &operator=(const Blosc2 &) = delete;
    ~Blosc2() {
        if (decompressor_ != nullptr) free_(decompressor_);
    }

    bool open(const collpress_codec_config &config) {
        const char *(*version)() = nullptr;
        void (*initialise)() = nullptr;
        CompressionParameters (*usual_compression)() = nullptr;
        DecompressionParameters (*usual_decompression)() = nullptr;
        void *(*new_decompressor)(DecompressionParameters) = nullptr;
        if (!library_.load("COLLPRESS_BLOSC2_LIBRARY", {"libblosc2.so"}) ||
            !library_.find(version, "blosc2_get_version_string") || !library_.find(initialise, "blosc2_init") ||
            !library_.find(usual_compression, "blosc2_get_blosc2_cparams_defaults") ||
            !library_.find(usual_decompression, "blosc2_get_blosc2_dparams_defaults") ||
            !library_.find(new_compressor_, "blosc2_create_cctx") ||
            !library_.find(new_decompressor, "blosc2_create_dctx") || !library_.find(free_, "blosc2_free_ctx") ||
            !library_.find(compress_, "blosc2_compress_ctx") || !library_.find(decompress_, "blosc2_decompress_ctx"))
            return false;
        if (std::string_view(version()).substr(0, 2) != "3.") return false; // its structures are others
        // Harmless when repeated, but not when two threads do it at once; the library stays loaded.
        static std::once_flag once;
        std::call_once(once, initialise);
        CompressionParameters &compression = compression_ = usual_compression();
        DecompressionParameters decompression = usual_decompression();
        // The structures are what we think they are if the documented usual values stand where we expect them.
        if (compression.level != 5 || compression.element_bytes != 8 || compression.threads != 1 ||
            compression.filters[kFilters - 1] != 1 || decompression.threads != 1 || decompression.element_bytes != 8)
            return false;
        compression.compressor = Values(config, parameters).whole(0) == 0 ? 5 : 1; // BLOSC_ZSTD, BLOSC_LZ4
        compression.level = static_cast<std::uint8_t>(Values(config, parameters).whole(1));
        filter_ = static_cast<std::uint8_t>(Values(config, parameters).whole(2) + 1); // BLOSC_SHUFFLE, BLOSC_BITSHUFFLE
        compression.filters[kFilters - 1] = filter_;
        compression.element_bytes = static_cast<std::int32_t>(size_of(config.dtype));
        decompression.element_bytes = compression.element_bytes;
        decompressor_ = new_decompressor(decompression);
        return decompressor_ != nullptr;
    }

    std::size_t limit(std::size_t raw) const { return raw + kHeader; }

    std::size_t compress(const unsigned char *in, std::size_t raw, unsigned char *out, std::size_t room) {
        // A new one each time: a compressor keeps the block size that it has chosen for its first chunk.
        void *compressor = new_compressor_(compression_);
        if (compressor == nullptr) return 0;
        const int bytes =
            compress_(compressor, in, static_cast<std::int32_t>(raw), out, static_cast<std::int32_t>(room));
        free_(compressor);
        return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
    }

    bool decompress(const unsigned char *in, std::size_t bytes, unsigned char *out, std::size_t raw) {
        if (!ours(in, bytes, raw)) return false;
        const int done =
            decompress_(decompressor_, in, static_cast<std::int32_t>(bytes), out, static_cast<std::int32_t>(raw));
        return done >= 0 && static_cast<std::size_t>(done) == raw;
    }

  private:
    // Whether Blosc2's header says what compress() makes it say: a damaged one could ask for other filters, for
    // dictionaries, for lazy chunks or for values that nobody wrote.
    bool ours(const unsigned char *in, std::size_t bytes, std::size_t raw) const {
        if (bytes < kHeader) return false;
        std::uint32_t raw_bytes = 0, stream_bytes = 0;
        std::memcpy(&raw_bytes, in + 4, sizeof raw_bytes);
        std::memcpy(&stream_bytes, in + 12, sizeof stream_bytes);
        const unsigned char *filters = in + 16;
        const unsigned special = in[31] >> 4; // 0: none, 1: zeros, 3: one value
        return raw_bytes == raw && stream_bytes == bytes && filters[kFilters - 1] == filter_ &&
               std::all_of(filters, filters + kFilters - 1, [](unsigned char f) { return f == 0; }) && in[30] == 0 &&
               (in[31] & 15) == 0 && (special == 0 || special == 1 || special == 3);
    }

    OutsideLibrary library_;
    std::uint8_t filter_ = 1;
    CompressionParameters compression_{};
    void *decompressor_ = nullptr;
    void *(*new_compressor_)(CompressionParameters) = nullptr;
    int (*compress_)(void *context, const void *in, std::int32_t raw, void *out, std::int32_t room) = nullptr;
    int (*decompress_)(void *context, const void *in, std::int32_t bytes, void *out, std::int32_t room) = nullptr;
    void (*free_)(void *context) = nullptr;
};

constexpr collpress_codec_extras extras = only_parameters(parameters);
constexpr collpress_codec codec = BytesCodec<Blosc2>::codec(&extras);
constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC,
                                    "Blosc2: shuffle, then Zstandard or LZ4, lossless", &codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
