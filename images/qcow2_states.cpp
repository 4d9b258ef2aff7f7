#include "images/qcow2_states.hpp"

#include <algorithm>

#include "images/bytes.hpp"

namespace difffuzz::qcow2 {
namespace {

std::uint32_t bits(std::uint64_t begin, std::uint64_t end) {
    return begin >= end
               ? 0
               : static_cast<std::uint32_t>(((std::uint64_t{1} << (end - begin)) - 1) << begin);
}

// Subclusters of one cluster that a write touches, and those among them that it covers.
struct Reach {
    std::uint32_t touched = 0;
    std::uint32_t covered = 0;
};

class Program {
public:
    explicit Program(const StateRules& rules)
        : rules_(rules),
          cluster_bytes_(std::uint64_t{1} << rules.cluster_bits),
          all_(bits(0, rules.subclusters)) {}

    void apply(const ContentWrite& write, std::uint32_t part, ClusterMap& clusters) const;

private:
    Reach reach(const ContentWrite& write, std::uint64_t cluster) const;
    ClusterState after(WriteKind kind, const ClusterState& before, const Reach& reach,
                       std::uint32_t part) const;
    ClusterState after_data(ClusterState state, std::uint32_t touched, std::uint32_t part) const;
    ClusterState after_zero(ClusterState state, const Reach& reach, std::uint32_t part) const;

    const StateRules& rules_;
    std::uint64_t cluster_bytes_;
    std::uint32_t all_;
};

Reach Program::reach(const ContentWrite& write, std::uint64_t cluster) const {
    const std::uint64_t start = cluster * cluster_bytes_;
    const std::uint64_t stop = write.offset + write.length;
    const std::uint64_t unit = cluster_bytes_ / rules_.subclusters;
    const std::uint64_t begin = std::max(write.offset, start) - start;
    const std::uint64_t end = std::min(stop - start, cluster_bytes_);
    const std::uint64_t cover_end = stop == rules_.disk_size ? cluster_bytes_ : end;
    // Whole clusters in front of the last one end at their own end in either case.
    return {bits(begin / unit, divide_up(end, unit)),
            bits(divide_up(begin, unit), cover_end / unit)};
}

ClusterState Program::after_data(ClusterState state, std::uint32_t touched,
                                 std::uint32_t part) const {
    if (state.host == Host::compressed) {
        state.data = all_;  // what is not written is unpacked
    }
    state.host = Host::plain;
    state.part = part;
    state.data |= touched;
    state.zeros &= ~touched;
    return state;
}

ClusterState Program::after_zero(ClusterState state, const Reach& reach, std::uint32_t part) const {
    if (!rules_.zero_flag) {
        const bool zero_already = state.host == Host::none && !rules_.backing;
        return zero_already ? state : after_data(state, reach.touched, part);
    }
    if (state.host == Host::compressed) {
        return reach.covered == all_ ? ClusterState{Host::none, 0, 0, all_}
                                     : after_data(state, reach.touched, part);
    }
    if (const std::uint32_t edges = reach.touched & ~reach.covered; edges != 0) {
        state = after_data(state, edges, part);
    }
    state.data &= ~reach.covered;
    state.zeros |= reach.covered;
    return state;
}

ClusterState Program::after(WriteKind kind, const ClusterState& before, const Reach& reach,
                            std::uint32_t part) const {
    switch (kind) {
        case WriteKind::write:
            return after_data(before, reach.touched, part);
        case WriteKind::compressed:
            return {Host::compressed, part, 0, 0};
        case WriteKind::unmap:
            if (reach.covered == all_) {
                return {Host::none, 0, 0, rules_.backing ? all_ : 0};
            }
            break;
        case WriteKind::zero:
            break;
    }
    return after_zero(before, reach, part);
}

void Program::apply(const ContentWrite& write, std::uint32_t part, ClusterMap& clusters) const {
    struct Piece {
        std::uint64_t begin;
        std::uint64_t end;
        ClusterState state;
    };
    std::vector<Piece> pieces;
    const auto change = [&](std::uint64_t begin, std::uint64_t end) {
        if (begin >= end) {
            return;
        }
        const Reach all_alike = reach(write, begin);
        clusters.visit(begin, end,
                       [&](std::uint64_t from, std::uint64_t to, const ClusterState* before) {
                           const ClusterState state = before == nullptr ? ClusterState{} : *before;
                           pieces.push_back({from, to, after(write.kind, state, all_alike, part)});
                       });
    };
    const std::uint64_t first = write.offset / cluster_bytes_;
    const std::uint64_t last = (write.offset + write.length - 1) / cluster_bytes_;
    change(first, first + 1);
    change(first + 1, last);
    change(std::max(last, first + 1), last + 1);
    for (const Piece& piece : pieces) {
        clusters.assign(piece.begin, piece.end, piece.state);
    }
}

}  // namespace

std::vector<ClusterMap> states_after(const std::vector<ContentWrite>& writes,
                                     std::span<const std::uint32_t> part_ends,
                                     const StateRules& rules) {
    const Program program(rules);
    std::vector<ClusterMap> states;
    ClusterMap clusters;
    std::size_t done = 0;
    for (std::uint32_t part = 0; part <= part_ends.size(); ++part) {
        const std::size_t end = part < part_ends.size() ? part_ends[part] : writes.size();
        for (; done < end; ++done) {
            program.apply(writes[done], part, clusters);
        }
        states.push_back(clusters);
    }
    return states;
}

}  // namespace difffuzz::qcow2
