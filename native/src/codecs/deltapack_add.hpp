// The sum of two deltapack streams, chunk by chunk, without decompressing.
//
// Where both chunks have the same step, q of the sum is the sum of the q, and so are the deltas: blocks are added as
// they lie in the registers. Nothing is rounded, so packed blocks have the same bits in whatever order streams are
// added. Their value is q·step, rounded as any decoded value is. With p streams of bound b, this is off the exact sum
// of the original values by at most p·b, half an ulp of each decoded addend (there q·step was rounded when the bound
// was verified) and an ulp of the sum.
//
// A block becomes raw, and then has the floating-point sum of the two decoded values, rounded once for each addition,
// where either is raw (NaN and infinities are), where the steps differ, where the sum of two q leaves 32 bits, or where
// its bits would need as many bytes as its values. Raw blocks stay raw; their bits depend on the order of additions as
// any floating-point sum does. A sum is never wrong because integers overflow: without a proof from the widths that
// they cannot, every sum is looked at.
#ifndef COLLPRESS_CODECS_DELTAPACK_ADD_HPP
#define COLLPRESS_CODECS_DELTAPACK_ADD_HPP

#include "deltapack_format.hpp"

#include <algorithm>

namespace collpress::codecs::deltapack {

// More than any |q| of the chunk, 2^31 where a block is raw.
inline std::uint64_t reach(const Chunk &chunk, std::size_t blocks) {
    constexpr std::uint64_t far = std::uint64_t{1} << 31;
    const auto start = static_cast<std::int32_t>(chunk.header.start);
    auto sum = static_cast<std::uint64_t>(std::abs(static_cast<std::int64_t>(start)) + 1);
    for (std::size_t block = 0; block < blocks; ++block) {
        const unsigned width = chunk.widths[block];
        sum += width == kRaw ? far : (kBlock / 2) << width; // |delta| <= 2^(width - 1); of width 0: too much, harmless
    }
    return sum;
}

// Deltas of a packed block of any width.
inline void unpack_any(const unsigned char *in, unsigned width, std::int32_t *delta) {
    if (width == 0)
        std::fill_n(delta, kBlock, 0);
    else if (width <= kNarrow)
        unpack_narrow(in, width, delta);
    else
        unpack_wide(in, width, delta);
}

inline unsigned widest(const std::int32_t *delta) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kBlock; ++i) bits |= zigzag(delta[i]);
    return width_of(bits);
}

inline void pack_any(const std::int32_t *delta, unsigned width, unsigned char *out) {
    if (width > kNarrow)
        pack_wide(delta, width, out);
    else if (width > 0)
        pack_narrow(delta, width, out);
}

// Where the blocks of a sum go.
class Sink {
  public:
    // `fits` tells whether there is room for header and widths.
    Sink(unsigned char *out, std::size_t capacity, std::size_t blocks)
        : out_(out), widths_(out + sizeof(ChunkHeader)), blocks_(blocks),
          left_(capacity < sizeof(ChunkHeader) + blocks ? 0 : capacity - sizeof(ChunkHeader) - blocks),
          fits_(capacity >= sizeof(ChunkHeader) + blocks) {
        to_ = fits_ ? widths_ + blocks : out;
    }

    bool fits() const { return fits_; }

    // Room for the next block; null when there is not enough.
    unsigned char *next(unsigned width, std::size_t bytes) {
        if (left_ < bytes) return nullptr;
        *widths_++ = static_cast<unsigned char>(width);
        unsigned char *here = to_;
        to_ += bytes;
        left_ -= bytes;
        return here;
    }

    std::size_t finish(std::uint32_t start, double step) const {
        ChunkHeader header{static_cast<std::uint32_t>(to_ - out_), 0, start, 0, step};
        header.check = chunk_check(header, out_ + sizeof header, blocks_);
        std::memcpy(out_, &header, sizeof header);
        return header.bytes;
    }

  private:
    unsigned char *out_, *widths_, *to_;
    std::size_t blocks_, left_;
    bool fits_;
};

// One of two chunks, block by block.
template <class T>
class Reader {
  public:
    explicit Reader(const Chunk &chunk)
        : widths_(chunk.widths), from_(chunk.packed), q_(chunk.header.start), step_(static_cast<T>(chunk.header.step)) {
    }

    bool raw() const { return *widths_ == kRaw; }

    // The next block: q where it is packed, the decoded values in any case.
    void read(std::size_t count, std::int32_t *q, T *values) {
        const unsigned width = *widths_++;
        if (width == kRaw) {
            std::memcpy(values, from_, count * sizeof(T));
            from_ += count * sizeof(T);
            return;
        }
        unpack_any(from_, width, q);
        from_ += 32 * std::size_t{width};
        for (std::size_t i = 0; i < kBlock; ++i) {
            q_ += static_cast<std::uint32_t>(q[i]);
            q[i] = static_cast<std::int32_t>(q_);
            values[i] = static_cast<T>(q[i]) * step_;
        }
    }

  private:
    const unsigned char *widths_, *from_;
    std::uint32_t q_;
    T step_;
};

// Whether q of a sum is one that the decoder can have.
constexpr bool representable(std::int64_t q) {
    return q > std::numeric_limits<std::int32_t>::min() && q <= std::numeric_limits<std::int32_t>::max();
}

// Any two chunks; returns the bytes of their sum, 0 when `capacity` does not hold them.
template <class T>
inline std::size_t add_carefully(const Chunk &a, const Chunk &b, std::size_t count, unsigned char *out,
                                 std::size_t capacity) {
    Sink sink(out, capacity, blocks_of(count));
    if (!sink.fits()) return 0;
    const bool alike = a.header.step == b.header.step;
    const T step = static_cast<T>(a.header.step);
    const auto start_of = [](const Chunk &chunk) {
        return std::int64_t{static_cast<std::int32_t>(chunk.header.start)};
    };
    std::int64_t start = start_of(a) + start_of(b);
    if (!alike || !representable(start)) start = 0;
    std::int64_t before = start;
    Reader<T> reader_a(a), reader_b(b);
    std::int32_t q_a[kBlock], q_b[kBlock], delta[kBlock];
    std::int64_t q[kBlock];
    T values[kBlock], others[kBlock];
    for (std::size_t at = 0; at < count; at += kBlock) {
        const std::size_t here = std::min(kBlock, count - at);
        bool packs = alike && !reader_a.raw() && !reader_b.raw();
        reader_a.read(here, q_a, values);
        reader_b.read(here, q_b, others);
        for (std::size_t i = 0; i < kBlock && packs; ++i) {
            q[i] = std::int64_t{q_a[i]} + q_b[i];
            packs = representable(q[i]);
        }
        for (std::size_t i = 0; i < here; ++i)
            values[i] = packs ? static_cast<T>(static_cast<std::int32_t>(q[i])) * step : values[i] + others[i];
        if (packs) {
            for (std::size_t i = 0; i < kBlock; ++i)
                delta[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(q[i] - (i == 0 ? before : q[i - 1])));
            const unsigned width = widest(delta);
            const std::size_t bytes = 32 * std::size_t{width};
            if (bytes < here * sizeof(T)) {
                unsigned char *to = sink.next(width, bytes);
                if (to == nullptr) return 0;
                pack_any(delta, width, to);
                before = q[kBlock - 1];
                continue;
            }
        }
        unsigned char *to = sink.next(kRaw, here * sizeof(T));
        if (to == nullptr) return 0;
        std::memcpy(to, values, here * sizeof(T));
    }
    return sink.finish(static_cast<std::uint32_t>(start), a.header.step);
}

constexpr std::size_t kLookCloser = ~std::size_t{0};

// Two chunks of the same step, without raw blocks, whose q cannot overflow; kLookCloser when a block should escape.
template <class T, class Kernel>
inline std::size_t add_packed(const Chunk &a, const Chunk &b, std::size_t count, unsigned char *out,
                              std::size_t capacity) {
    const std::size_t blocks = blocks_of(count);
    Sink sink(out, capacity, blocks);
    if (!sink.fits()) return 0;
    const unsigned char *from_a = a.packed, *from_b = b.packed;
    typename Kernel::Sums sums;
    std::int32_t delta[kBlock], other[kBlock];
    for (std::size_t block = 0; block < blocks; ++block) {
        const unsigned width_a = a.widths[block], width_b = b.widths[block];
        const std::size_t bytes_a = 32 * std::size_t{width_a}, bytes_b = 32 * std::size_t{width_b};
        const bool lone = width_a == 0 || width_b == 0, narrow = width_a <= kNarrow && width_b <= kNarrow;
        unsigned width = width_a + width_b;
        if (!lone && narrow) width = Kernel::add(from_a, width_a, from_b, width_b, sums);
        const bool wide = !lone && (!narrow || width > kNarrow);
        if (wide) {
            unpack_any(from_a, width_a, delta);
            unpack_any(from_b, width_b, other);
            for (std::size_t i = 0; i < kBlock; ++i)
                delta[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(delta[i]) +
                                                     static_cast<std::uint32_t>(other[i]));
            width = widest(delta);
        }
        const std::size_t bytes = 32 * std::size_t{width};
        if (bytes >= std::min(kBlock, count - block * kBlock) * sizeof(T)) return kLookCloser;
        unsigned char *to = sink.next(width, bytes);
        if (to == nullptr) return 0;
        if (lone)
            std::memcpy(to, width_b == 0 ? from_a : from_b, bytes);
        else if (wide)
            pack_any(delta, width, to);
        else if (width > 0)
            Kernel::pack(sums, width, to);
        from_a += bytes_a;
        from_b += bytes_b;
    }
    return sink.finish(a.header.start + b.header.start, a.header.step);
}

// The sum of two chunks; returns its bytes, 0 when `capacity` does not hold it.
template <class T, class Kernel>
inline std::size_t add_chunks(const Chunk &a, const Chunk &b, std::size_t count, unsigned char *out,
                              std::size_t capacity) {
    const std::size_t blocks = blocks_of(count);
    if (a.header.step == b.header.step && reach(a, blocks) + reach(b, blocks) < (std::uint64_t{1} << 31)) {
        const std::size_t bytes = add_packed<T, Kernel>(a, b, count, out, capacity);
        if (bytes != kLookCloser) return bytes;
    }
    return add_carefully<T>(a, b, count, out, capacity);
}

} // namespace collpress::codecs::deltapack
#endif
