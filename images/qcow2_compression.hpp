// Compressed clusters of qcow2: raw deflate with a 4 KiB window, or one zstd frame.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "images/qcow2_layout.hpp"

namespace difffuzz::qcow2 {

// Keeps its working memory between clusters. The bytes depend on the libraries' versions.
class Compressor {
public:
    Compressor(Compression type, std::size_t cluster_bytes);
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;
    ~Compressor();

    // The cluster compressed, valid until the next call; empty when that takes as much room as the
    // cluster itself.
    std::span<const std::byte> compress(std::span<const std::byte> cluster);

private:
    struct State;
    std::unique_ptr<State> state_;
    std::vector<std::byte> output_;
};

// Fills `cluster` from the compressed bytes at the start of `input` (which may be longer). False
// when they are broken or too short. Memory is bounded whatever the input.
bool decompress(Compression type, std::span<const std::byte> input, std::span<std::byte> cluster);

}  // namespace difffuzz::qcow2
