// lz4: LZ4 over the values' bytes, lossless, through liblz4: the one that COLLPRESS_LZ4_LIBRARY names (usually the
// wheel of Blosc2, whose library exports LZ4's own functions), else liblz4.so.1 wherever the loader finds it. Without
// it: UNSUPPORTED. The stream is that of bytes_codec.hpp, each chunk one block of LZ4.
#include "bytes_codec.hpp"
#include "outside.hpp"

namespace {

using namespace collpress::codecs;

constexpr collpress_codec_parameter parameters[] = {
    {"level", "as of the program lz4: 1 and 2 are fast, 3 to 12 look longer for what is alike", nullptr, 1, 1, 12, 1},
};

// The functions of liblz4 that are used here, as its documentation describes them.
class Lz4 {
  public:
    static constexpr std::uint32_t magic = 0x31344c43; // "CL41"

    bool open(const collpress_codec_config &config) {
        level_ = Values(config, parameters).whole(0);
        return library_.load("COLLPRESS_LZ4_LIBRARY", {"liblz4.so.1"}) && library_.find(limit_, "LZ4_compressBound") &&
               library_.find(fast_, "LZ4_compress_default") && library_.find(high_, "LZ4_compress_HC") &&
               library_.find(decompress_, "LZ4_decompress_safe");
    }

    std::size_t limit(std::size_t raw) const { return static_cast<std::size_t>(limit_(static_cast<int>(raw))); }

    std::size_t compress(const unsigned char *in, std::size_t raw, unsigned char *out, std::size_t room) {
        const auto *from = reinterpret_cast<const char *>(in);
        auto *to = reinterpret_cast<char *>(out);
        const int bytes = level_ < 3 ? fast_(from, to, static_cast<int>(raw), static_cast<int>(room))
                                     : high_(from, to, static_cast<int>(raw), static_cast<int>(room), level_);
        return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
    }

    bool decompress(const unsigned char *in, std::size_t bytes, unsigned char *out, std::size_t raw) {
        const int done = decompress_(reinterpret_cast<const char *>(in), reinterpret_cast<char *>(out),
                                     static_cast<int>(bytes), static_cast<int>(raw));
        return done >= 0 && static_cast<std::size_t>(done) == raw;
    }

  private:
    OutsideLibrary library_;
    int level_ = 1;
    int (*limit_)(int raw) = nullptr;
    int (*fast_)(const char *in, char *out, int raw, int room) = nullptr;
    int (*high_)(const char *in, char *out, int raw, int room, int level) = nullptr;
    int (*decompress_)(const char *in, char *out, int bytes, int room) = nullptr;
};

constexpr collpress_codec_extras extras = only_parameters(parameters);
constexpr collpress_codec codec = BytesCodec<Lz4>::codec(&extras);
constexpr collpress_plugin_t plugin{COLLPRESS_ABI_VERSION, COLLPRESS_CODEC, "LZ4 over the bytes, lossless", &codec};

} // namespace

extern "C" const collpress_plugin_t *collpress_plugin(void) { return &plugin; }
