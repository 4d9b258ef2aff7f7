#include "images/qcow2_compression.hpp"

#include <zlib.h>
#include <zstd.h>

#include <new>

namespace difffuzz::qcow2 {
namespace {

// Negative: raw deflate, without header and checksum.
constexpr int window_bits = -12;
constexpr int zstd_level = 1;

// zlib's interface is not const-correct and counts bytes of its own type.
Bytef* zlib_bytes(const std::byte* bytes) {
    return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes));
}

bool inflate_cluster(std::span<const std::byte> input, std::span<std::byte> cluster) {
    z_stream stream{};
    if (inflateInit2(&stream, window_bits) != Z_OK) {
        throw std::bad_alloc();
    }
    stream.next_in = zlib_bytes(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
    stream.next_out = zlib_bytes(cluster.data());
    stream.avail_out = static_cast<uInt>(cluster.size());
    const int result = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    // Z_BUF_ERROR: the cluster is full, but the stream goes on. qemu takes that as success too.
    return (result == Z_STREAM_END || result == Z_BUF_ERROR) && stream.avail_out == 0;
}

// Frame by frame with the size of each known: the streaming interface would allocate whatever
// window the frame asks for.
bool decompress_zstd(std::span<const std::byte> input, std::span<std::byte> cluster) {
    while (!cluster.empty()) {
        const std::size_t frame = ZSTD_findFrameCompressedSize(input.data(), input.size());
        if (ZSTD_isError(frame) != 0) {
            return false;
        }
        const std::size_t got =
            ZSTD_decompress(cluster.data(), cluster.size(), input.data(), frame);
        if (ZSTD_isError(got) != 0) {
            return false;
        }
        input = input.subspan(frame);
        cluster = cluster.subspan(got);
    }
    return true;
}

}  // namespace

struct Compressor::State {
    Compression type;
    z_stream deflate{};
    ZSTD_CCtx* zstd = nullptr;
};

Compressor::Compressor(Compression type, std::size_t cluster_bytes)
    : state_(std::make_unique<State>()), output_(cluster_bytes - 1) {
    state_->type = type;
    // Resetting zlib's tables costs more than a small cluster does, so these are small then.
    const int memory_level = cluster_bytes < 16384 ? 4 : 8;
    const bool ready = type == Compression::zstd
                           ? (state_->zstd = ZSTD_createCCtx()) != nullptr
                           : deflateInit2(&state_->deflate, Z_BEST_SPEED, Z_DEFLATED, window_bits,
                                          memory_level, Z_DEFAULT_STRATEGY) == Z_OK;
    if (!ready) {
        throw std::bad_alloc();
    }
}

Compressor::~Compressor() {
    if (state_->type == Compression::zlib) {
        deflateEnd(&state_->deflate);
    }
    ZSTD_freeCCtx(state_->zstd);
}

std::span<const std::byte> Compressor::compress(std::span<const std::byte> cluster) {
    if (state_->type == Compression::zstd) {
        const std::size_t length = ZSTD_compressCCtx(state_->zstd, output_.data(), output_.size(),
                                                     cluster.data(), cluster.size(), zstd_level);
        return std::span(output_).first(ZSTD_isError(length) != 0 ? 0 : length);
    }
    z_stream& stream = state_->deflate;
    deflateReset(&stream);
    stream.next_in = zlib_bytes(cluster.data());
    stream.avail_in = static_cast<uInt>(cluster.size());
    stream.next_out = zlib_bytes(output_.data());
    stream.avail_out = static_cast<uInt>(output_.size());
    const bool fits = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    return std::span(output_).first(fits ? output_.size() - stream.avail_out : 0);
}

bool decompress(Compression type, std::span<const std::byte> input, std::span<std::byte> cluster) {
    return type == Compression::zstd ? decompress_zstd(input, cluster)
                                     : inflate_cluster(input, cluster);
}

}  // namespace difffuzz::qcow2
