// Lossless codecs that a library of bytes does: the message in chunks, each compressed on its own.
//
//   stream = StreamHeader, then for each chunk of 16 MiB of values (the last one shorter):
//            ChunkHeader, then what the library made of it, or the values as they are where that is not less
//
// The checksums guard sizes and places, as in our other codecs, and not the payload: the libraries' decoders are made
// for damaged input, and the bytes of a checksum over everything would be paid for in every measurement.
//
// A Library:
//   static constexpr std::uint32_t magic
//   bool open(const collpress_codec_config &)                                      false: missing, or cannot
//   std::size_t limit(std::size_t raw) const                                       room that compress() may need
//   std::size_t compress(const unsigned char *in, std::size_t raw, unsigned char *out, std::size_t room)  0: failed
//   bool decompress(const unsigned char *in, std::size_t bytes, unsigned char *out, std::size_t raw)
//                                                                                  false: not exactly `raw` bytes
#ifndef COLLPRESS_CODECS_BYTES_CODEC_HPP
#define COLLPRESS_CODECS_BYTES_CODEC_HPP

#include "parameters.hpp"
#include "stream.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <vector>

namespace collpress::codecs {

template <class Library>
class BytesCodec {
    static constexpr std::size_t kChunk = std::size_t{16} << 20; // a multiple of every element's size

    struct ChunkHeader {
        std::uint32_t bytes; // that follow; those of the values themselves: raw
        std::uint32_t check;

        static std::uint32_t check_of(std::uint32_t bytes, std::size_t place) {
            return static_cast<std::uint32_t>(checksum(&bytes, sizeof bytes, place));
        }
    };

    struct Context {
        std::uint32_t dtype = 0;
        Library library;
        std::vector<unsigned char> scratch;
    };

    static void *create(const collpress_codec_config *config, collpress_codec_result *result) try {
        auto context = std::make_unique<Context>();
        context->dtype = config->dtype;
        const bool known = (kDtypes & COLLPRESS_DTYPE_BIT(config->dtype)) != 0;
        *result = known && context->library.open(*config) ? COLLPRESS_CODEC_OK : COLLPRESS_CODEC_UNSUPPORTED;
        return *result == COLLPRESS_CODEC_OK ? context.release() : nullptr;
    } catch (const std::exception &) {
        *result = COLLPRESS_CODEC_FAILED; // no memory
        return nullptr;
    }

    static void destroy(void *context) { delete static_cast<Context *>(context); }

    static std::size_t max_bytes(const void *opaque, std::size_t count) {
        const std::size_t raw = count * size_of(static_cast<const Context *>(opaque)->dtype);
        return sizeof(StreamHeader) + raw + (raw + kChunk - 1) / kChunk * sizeof(ChunkHeader);
    }

    // The library's stream of a chunk at `out` or, where the room there is less than it may need, in the scratch: what
    // it makes must not depend on the room. 0: the values are to be stored as they are.
    static std::size_t pack(Context &context, const unsigned char *in, std::size_t raw, unsigned char *out,
                            std::size_t room) {
        const std::size_t limit = context.library.limit(raw);
        const bool direct = room >= limit;
        if (!direct && context.scratch.size() < limit) context.scratch.resize(limit);
        unsigned char *to = direct ? out : context.scratch.data();
        const std::size_t bytes = context.library.compress(in, raw, to, limit);
        if (bytes == 0 || bytes >= raw) return 0;
        if (!direct && bytes <= room) std::memcpy(out, to, bytes);
        return bytes;
    }

    static collpress_codec_result compress(void *opaque, const void *in, std::size_t count, void *out,
                                           std::size_t capacity, std::size_t *out_bytes) try {
        auto &context = *static_cast<Context *>(opaque);
        if (capacity < sizeof(StreamHeader)) return COLLPRESS_CODEC_SMALL_BUFFER;
        write_header(out, Library::magic, context.dtype, count, 0, 0);
        const auto *values = static_cast<const unsigned char *>(in);
        auto *to = static_cast<unsigned char *>(out);
        const std::size_t all = count * size_of(context.dtype);
        std::size_t at = sizeof(StreamHeader);
        for (std::size_t done = 0; done < all; done += kChunk) {
            if (capacity - at < sizeof(ChunkHeader)) return COLLPRESS_CODEC_SMALL_BUFFER;
            const std::size_t place = at, raw = std::min(kChunk, all - done);
            at += sizeof(ChunkHeader);
            std::size_t bytes = pack(context, values + done, raw, to + at, capacity - at);
            const bool stored = bytes == 0;
            if (stored) bytes = raw;
            if (capacity - at < bytes) return COLLPRESS_CODEC_SMALL_BUFFER;
            if (stored) std::memcpy(to + at, values + done, raw);
            ChunkHeader header{static_cast<std::uint32_t>(bytes), 0};
            header.check = ChunkHeader::check_of(header.bytes, place);
            std::memcpy(to + place, &header, sizeof header);
            at += bytes;
        }
        *out_bytes = at;
        return COLLPRESS_CODEC_OK;
    } catch (const std::exception &) {
        return COLLPRESS_CODEC_FAILED; // no memory
    }

    static collpress_codec_result decompress(void *opaque, const void *in, std::size_t bytes, void *out,
                                             std::size_t count) {
        auto &context = *static_cast<Context *>(opaque);
        std::uint8_t flags = 0;
        if (!read_header(in, bytes, Library::magic, context.dtype, count, 0, &flags) || flags != 0)
            return COLLPRESS_CODEC_BAD_STREAM;
        const auto *from = static_cast<const unsigned char *>(in);
        auto *values = static_cast<unsigned char *>(out);
        const std::size_t all = count * size_of(context.dtype);
        std::size_t at = sizeof(StreamHeader);
        for (std::size_t done = 0; done < all; done += kChunk) {
            const std::size_t raw = std::min(kChunk, all - done), place = at;
            ChunkHeader header{};
            if (bytes - at < sizeof header) return COLLPRESS_CODEC_BAD_STREAM;
            std::memcpy(&header, from + at, sizeof header);
            at += sizeof header;
            if (header.check != ChunkHeader::check_of(header.bytes, place) || header.bytes == 0 || header.bytes > raw ||
                header.bytes > bytes - at)
                return COLLPRESS_CODEC_BAD_STREAM;
            if (header.bytes == raw)
                std::memcpy(values + done, from + at, raw);
            else if (!context.library.decompress(from + at, header.bytes, values + done, raw))
                return COLLPRESS_CODEC_BAD_STREAM;
            at += header.bytes;
        }
        return at == bytes ? COLLPRESS_CODEC_OK : COLLPRESS_CODEC_BAD_STREAM;
    }

    static double worst_error(const void *, double) { return 0; }

    static constexpr std::uint32_t kDtypes =
        COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT32) | COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT64) |
        COLLPRESS_DTYPE_BIT(COLLPRESS_FLOAT16) | COLLPRESS_DTYPE_BIT(COLLPRESS_BFLOAT16) |
        COLLPRESS_DTYPE_BIT(COLLPRESS_INT8) | COLLPRESS_DTYPE_BIT(COLLPRESS_INT16) |
        COLLPRESS_DTYPE_BIT(COLLPRESS_INT32) | COLLPRESS_DTYPE_BIT(COLLPRESS_INT64);

  public:
    static constexpr collpress_codec codec(const collpress_codec_extras *extras) {
        return {kDtypes, 0, 1, create, destroy, max_bytes, compress, decompress, worst_error, extras};
    }
};

} // namespace collpress::codecs
#endif
