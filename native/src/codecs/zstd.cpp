// zstd: Zstandard over the values' bytes, lossless, through libzstd: the one that COLLPRESS_ZSTD_LIBRARY names (usually
// the wheel of Blosc2, whose library exports Zstandard's own functions), else libzstd.so.1 wherever the loader finds
// it. Without it: UNSUPPORTED. The stream is that of bytes_codec.hpp, each chunk one frame of Zstandard.
#include "bytes_codec.hpp"
#include "outside.hpp"

namespace {

using namespace collpress::codecs;

constexpr collpress_codec_parameter parameters[] = {
    {"level", "Zstandard's level: 1 is the fastest, 19 the smallest", nullptr, 1, 1, 19, 1},
};

// The functions of libzstd that are used here, as its manual describes them; all its types stay opaque.
class Zstd {
  public:
    static constexpr std::uint32_t magic = 0x31535a43; // "CZS1"

    Zstd() = default;
    Zstd(const Zstd &) = delete;
    Zstd &operator=(const Zstd &) = delete;
    ~Zstd() {
        if (compressor_ != nullptr) free_compressor_(compressor_);
        if (decompressor_ != nullptr) free_decompressor_(decompressor_);
    }

    bool open(const collpress_codec_config &config) {
        level_ = Values(config, parameters).whole(0);
        void *(*new_compressor)() = nullptr;
        void *(*new_decompressor)() = nullptr;
        if (!library_.load("COLLPRESS_ZSTD_LIBRARY", {"libzstd.so.1"}) ||
            !library_.find(limit_, "ZSTD_compressBound") || !library_.find(compress_, "ZSTD_compressCCtx") ||
            !library_.find(decompress_, "ZSTD_decompressDCtx") || !library_.find(is_error_, "ZSTD_isError") ||
            !library_.find(new_compressor, "ZSTD_createCCtx") || !library_.find(new_decompressor, "ZSTD_createDCtx") ||
            !library_.find(free_compressor_, "ZSTD_freeCCtx") || !library_.find(free_decompressor_, "ZSTD_freeDCtx"))
            return false;
        compressor_ = new_compressor();
        decompressor_ = new_decompressor();
        return compressor_ != nullptr && decompressor_ != nullptr;
    }

    std::size_t limit(std::size_t raw) const { return limit_(raw); }

    std::size_t compress(const unsigned char *in, std::size_t raw, unsigned char *out, std::size_t room) {
        const std::size_t bytes = compress_(compressor_, out, room, in, raw, level_);
        return is_error_(bytes) != 0 ? 0 : bytes;
    }

    bool decompress(const unsigned char *in, std::size_t bytes, unsigned char *out, std::size_t raw) {
        return decompress_(decompressor_, out, raw, in, bytes) == raw; // errors are larger than any size
    }

  private:
    OutsideLibrary library_;
    int level_ = 1;
    void *compressor_ = nullptr;
    void *decompressor_ = nullptr;
    std::size_t (*limit_)(std::size_t raw) = nullptr;
    unsigned (*is_error_)(std::size_t result) = nullptr;
    std::size_t (*compress_)(void *compressor, void *out, std::size_t room, const void *in, std::size_t raw,
                             int level) = nullptr;
    std::size_t (*decompress_)(void *decompressor, void *out, std::size_t room, const void *in,
                               std::size_t bytes) = nullptr;
    std::size_t (*free_compressor_)(void *) = nullptr;
    std::size_t (*free_decompressor_)(void *) = nullptr;
};

constexpr collpress_codec_extras extras = only_parameters(parameters);
constexpr collpress_codec codec = BytesCodec<Zstd>::codec(&extras);
constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC, "Zstandard over the bytes, lossless",
                                    &codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
