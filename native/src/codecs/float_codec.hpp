// A codec for float32 and float64 made of a class, its streams' first bytes a StreamHeader.
//
//   class Kind
//     static constexpr std::array<collpress_codec_parameter, n> parameters
//     static constexpr std::uint32_t magic
//     Kind(const Values &, const collpress_codec_config &)
//     static bool allowed(const Values &)                   only where limits and choices do not say all
//     std::uint32_t settings() const                        what the parameters change about streams
//     std::size_t most(std::size_t count, std::size_t element) const     bytes behind the header
//     template <class T> collpress_codec_result encode(const unsigned char *in, std::size_t count, Writer &)
//     template <class T> bool decode(Reader &, unsigned char *out, std::size_t count)      false: a bad stream
//     double worst_error(double max_abs, double epsilon) const     epsilon: of the type
//     void begin()                                          only of codecs with a memory
//
// encode and decode are compiled twice, for any CPU and for AVX2; what they call must be `always_inline` to be, too.
// Their streams are equal, for a float operation is the same in either. Both may throw std::bad_alloc.
#ifndef COLLPRESS_CODECS_FLOAT_CODEC_HPP
#define COLLPRESS_CODECS_FLOAT_CODEC_HPP

#include "cpu.hpp"
#include "parameters.hpp"
#include "stream.hpp"

#include <limits>
#include <new>

namespace collpress::codecs {

// Bytes of the output, handed out in order.
class Writer {
  public:
    Writer(void *out, std::size_t capacity) : at_(static_cast<unsigned char *>(out)), room_(capacity) {}

    // Null where they do not fit.
    unsigned char *take(std::size_t bytes) {
        if (bytes > room_) return nullptr;
        unsigned char *const taken = at_;
        at_ += bytes;
        room_ -= bytes;
        used_ += bytes;
        return taken;
    }
    std::size_t used() const { return used_; }

  private:
    unsigned char *at_;
    std::size_t room_, used_ = 0;
};

// Bytes of a stream, in order.
class Reader {
  public:
    Reader(const void *in, std::size_t bytes) : at_(static_cast<const unsigned char *>(in)), left_(bytes) {}

    // Null where there are not so many.
    const unsigned char *take(std::size_t bytes) {
        if (bytes > left_) return nullptr;
        const unsigned char *const taken = at_;
        at_ += bytes;
        left_ -= bytes;
        return taken;
    }
    template <class Value>
    bool get(Value &value) {
        const unsigned char *const bytes = take(sizeof value);
        if (bytes != nullptr) std::memcpy(&value, bytes, sizeof value);
        return bytes != nullptr;
    }
    std::size_t left() const { return left_; }
    const unsigned char *rest() const { return at_; }

  private:
    const unsigned char *at_;
    std::size_t left_;
};

template <class Job>
[[gnu::always_inline]] inline auto in_any(const Job &job) {
    return job();
}
#if COLLPRESS_X86_KERNELS
template <class Job>
[[gnu::target("avx2")]] auto in_avx2(const Job &job) {
    return job();
}
#endif

template <class Kind>
class FloatCodec {
    struct Context {
        std::uint32_t dtype;
        bool avx2;
        Kind kind;
    };

    static Context &of(void *context) { return *static_cast<Context *>(context); }
    static const Context &of(const void *context) { return *static_cast<const Context *>(context); }

    static void *create(const collpress_codec_config *config, collpress_codec_result *result) {
        const Values values(*config, Kind::parameters);
        bool allowed = values.allowed();
        if constexpr (requires { Kind::allowed(values); }) allowed = allowed && Kind::allowed(values);
        if ((config->dtype != COLLPRESS_FLOAT32 && config->dtype != COLLPRESS_FLOAT64) || !allowed) {
            *result = COLLPRESS_CODEC_UNSUPPORTED;
            return nullptr;
        }
        try {
            auto *context = new Context{config->dtype, has_avx2(), Kind(values, *config)};
            *result = COLLPRESS_CODEC_OK;
            return context;
        } catch (const std::bad_alloc &) {
            *result = COLLPRESS_CODEC_FAILED;
            return nullptr;
        }
    }

    static void destroy(void *context) { delete &of(context); }

    static std::size_t max_bytes(const void *opaque, std::size_t count) {
        const Context &context = of(opaque);
        return sizeof(StreamHeader) + context.kind.most(count, size_of(context.dtype));
    }

    template <class T>
    static collpress_codec_result encode(Context &context, const unsigned char *in, std::size_t count, Writer &writer) {
        const auto job = [&]() __attribute__((always_inline)) {
            return context.kind.template encode<T>(in, count, writer);
        };
#if COLLPRESS_X86_KERNELS
        if (context.avx2) return in_avx2(job);
#endif
        return in_any(job);
    }

    template <class T>
    static bool decode(Context &context, Reader &reader, unsigned char *out, std::size_t count) {
        const auto job = [&]() __attribute__((always_inline)) {
            return context.kind.template decode<T>(reader, out, count);
        };
#if COLLPRESS_X86_KERNELS
        if (context.avx2) return in_avx2(job);
#endif
        return in_any(job);
    }

    static collpress_codec_result compress(void *opaque, const void *in, std::size_t count, void *out,
                                           std::size_t capacity, std::size_t *out_bytes) try {
        Context &context = of(opaque);
        const auto *from = static_cast<const unsigned char *>(in);
        Writer writer(out, capacity);
        if (writer.take(sizeof(StreamHeader)) == nullptr) return COLLPRESS_CODEC_SMALL_BUFFER;
        const collpress_codec_result result = context.dtype == COLLPRESS_FLOAT32
                                                  ? encode<float>(context, from, count, writer)
                                                  : encode<double>(context, from, count, writer);
        if (result != COLLPRESS_CODEC_OK) return result;
        write_header(out, Kind::magic, context.dtype, count, 0.0, 0, context.kind.settings());
        *out_bytes = writer.used();
        return COLLPRESS_CODEC_OK;
    } catch (const std::bad_alloc &) {
        return COLLPRESS_CODEC_FAILED;
    }

    static collpress_codec_result decompress(void *opaque, const void *in, std::size_t bytes, void *out,
                                             std::size_t count) try {
        Context &context = of(opaque);
        std::uint8_t flags = 0;
        if (!read_header(in, bytes, Kind::magic, context.dtype, count, 0.0, &flags, context.kind.settings()) ||
            flags != 0)
            return COLLPRESS_CODEC_BAD_STREAM;
        Reader reader(static_cast<const unsigned char *>(in) + sizeof(StreamHeader), bytes - sizeof(StreamHeader));
        auto *to = static_cast<unsigned char *>(out);
        const bool good = context.dtype == COLLPRESS_FLOAT32 ? decode<float>(context, reader, to, count)
                                                             : decode<double>(context, reader, to, count);
        return good && reader.left() == 0 ? COLLPRESS_CODEC_OK : COLLPRESS_CODEC_BAD_STREAM;
    } catch (const std::bad_alloc &) {
        return COLLPRESS_CODEC_FAILED;
    }

    static double worst_error(const void *opaque, double max_abs) {
        const Context &context = of(opaque);
        const bool single = context.dtype == COLLPRESS_FLOAT32;
        return context.kind.worst_error(max_abs, single ? std::numeric_limits<float>::epsilon()
                                                        : std::numeric_limits<double>::epsilon());
    }

    static constexpr bool remembers = requires(Kind &kind) { kind.begin(); };
    static void begin(void *context) {
        if constexpr (remembers) of(context).kind.begin();
    }

    static constexpr collpress_codec_extras extras{Kind::parameters.data(), Kind::parameters.size(),
                                                   remembers ? begin : nullptr, nullptr, nullptr};

  public:
    static constexpr collpress_codec codec{
        COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT32) | COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT64),
        0,
        0,
        create,
        destroy,
        max_bytes,
        compress,
        decompress,
        worst_error,
        &extras,
    };
};

} // namespace collpress::codecs
#endif
