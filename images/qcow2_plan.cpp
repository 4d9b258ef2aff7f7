#include "images/qcow2_plan.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "images/bytes.hpp"
#include "images/qcow2_compression.hpp"

namespace difffuzz::qcow2 {
namespace {

class Planner {
public:
    Planner(std::span<const ContentSource* const> contents, const PlanRules& rules)
        : contents_(contents), rules_(rules) {}

    void add_state(const ClusterMap& clusters);
    void count_references();
    void place_hosts();
    Plan take() { return std::move(plan_); }

private:
    // Ends the table that the entries from `begin` on belong to.
    void finish_table(std::size_t begin, std::vector<std::size_t>& tables);
    std::optional<std::size_t> same_table_before(const Table& table) const;
    std::size_t host_of(const Entry& entry);
    void place_compressed(HostCluster& host);

    std::span<const ContentSource* const> contents_;
    const PlanRules& rules_;
    Plan plan_;
    std::vector<std::size_t> part_begins_;  // in Plan::hosts
    std::optional<Compressor> compressor_;
    std::vector<std::byte> guest_;
    std::uint64_t compressed_end_ = 0;
};

void Planner::add_state(const ClusterMap& clusters) {
    part_begins_.push_back(plan_.hosts.size());
    std::vector<std::size_t> tables;
    std::size_t begin = plan_.entries.size();
    for (const auto& [first, range] : clusters.ranges()) {
        if (range.value == ClusterState{}) {
            continue;
        }
        for (std::uint64_t cluster = first; cluster < range.end; ++cluster) {
            if (begin < plan_.entries.size() &&
                plan_.entries[begin].cluster / rules_.l2_entries != cluster / rules_.l2_entries) {
                finish_table(begin, tables);
                begin = plan_.entries.size();
            }
            plan_.entries.push_back({cluster, range.value, no_host});
        }
    }
    if (begin < plan_.entries.size()) {
        finish_table(begin, tables);
    }
    plan_.states.push_back(std::move(tables));
}

void Planner::finish_table(std::size_t begin, std::vector<std::size_t>& tables) {
    const Table table{plan_.entries[begin].cluster / rules_.l2_entries, begin, plan_.entries.size(),
                      1, false};
    if (const auto same = same_table_before(table)) {
        plan_.entries.resize(begin);
        ++plan_.tables[*same].references;
        tables.push_back(*same);
        return;
    }
    for (std::size_t i = table.begin; i < table.end; ++i) {
        plan_.entries[i].host = host_of(plan_.entries[i]);
    }
    tables.push_back(plan_.tables.size());
    plan_.tables.push_back(table);
}

std::optional<std::size_t> Planner::same_table_before(const Table& table) const {
    if (plan_.states.empty()) {
        return std::nullopt;
    }
    const std::vector<std::size_t>& before = plan_.states.back();
    const auto found =
        std::ranges::lower_bound(before, table.l1_index, {},
                                 [&](std::size_t number) { return plan_.tables[number].l1_index; });
    if (found == before.end() || plan_.tables[*found].l1_index != table.l1_index) {
        return std::nullopt;
    }
    const auto entries_of = [&](const Table& of) {
        return std::span(plan_.entries).subspan(of.begin, of.end - of.begin);
    };
    const bool same = std::ranges::equal(entries_of(plan_.tables[*found]), entries_of(table),
                                         [](const Entry& a, const Entry& b) {
                                             return a.cluster == b.cluster && a.state == b.state;
                                         });
    return same ? std::optional(*found) : std::nullopt;
}

std::size_t Planner::host_of(const Entry& entry) {
    const ClusterState& state = entry.state;
    if (state.host == Host::none) {
        return no_host;
    }
    const std::size_t part = plan_.states.size();
    if (state.part == part) {
        plan_.hosts.push_back({entry.cluster, state, 0, false, 0, 0, 0});
        return plan_.hosts.size() - 1;
    }
    // The state at the end of its part had it.
    const auto hosts = std::span(plan_.hosts).first(part_begins_[state.part + 1]);
    const auto found = std::ranges::lower_bound(hosts.subspan(part_begins_[state.part]),
                                                entry.cluster, {}, &HostCluster::cluster);
    return static_cast<std::size_t>(&*found - plan_.hosts.data());
}

void Planner::count_references() {
    for (const std::size_t table : plan_.states.back()) {
        plan_.tables[table].active = true;
    }
    for (const Table& table : plan_.tables) {
        for (std::size_t i = table.begin; i < table.end; ++i) {
            if (plan_.entries[i].host != no_host) {
                plan_.hosts[plan_.entries[i].host].references += table.references;
            }
        }
    }
}

void Planner::place_hosts() {
    for (HostCluster& host : plan_.hosts) {
        if (host.state.host == Host::compressed) {
            place_compressed(host);
        }
        if (!host.compressed) {
            host.position = plan_.plain++;
        }
    }
}

void Planner::place_compressed(HostCluster& host) {
    if (!compressor_) {
        compressor_.emplace(rules_.compression, rules_.cluster_bytes);
        guest_.resize(rules_.cluster_bytes);
    }
    read_guest(*contents_[host.state.part], host.cluster * rules_.cluster_bytes, guest_);
    const auto bytes = compressor_->compress(guest_);
    host.compressed = !bytes.empty();
    if (!host.compressed) {
        host.state = {Host::plain, host.state.part,
                      static_cast<std::uint32_t>((std::uint64_t{1} << rules_.subclusters) - 1), 0};
        return;
    }
    std::vector<std::uint64_t>& counts = plan_.compressed_references;
    const std::uint64_t unit = rules_.cluster_bytes;
    // Only the host cluster that others lie in can be full.
    if (compressed_end_ % unit != 0 && counts.back() > rules_.max_references - host.references) {
        compressed_end_ = round_up(compressed_end_, unit);
    }
    host.position = compressed_end_;
    compressed_end_ += bytes.size();
    counts.resize(divide_up(compressed_end_, unit));
    for (std::uint64_t at = host.position / unit; at < counts.size(); ++at) {
        counts[at] += host.references;
    }
    host.bytes_begin = plan_.compressed.size();
    plan_.compressed.insert(plan_.compressed.end(), bytes.begin(), bytes.end());
    host.bytes_end = plan_.compressed.size();
}

}  // namespace

Plan plan_image(const std::vector<ClusterMap>& states,
                std::span<const ContentSource* const> contents, const PlanRules& rules) {
    assert(states.size() == contents.size() && states.size() <= rules.max_references);
    Planner planner(contents, rules);
    for (const ClusterMap& clusters : states) {
        planner.add_state(clusters);
    }
    planner.count_references();
    planner.place_hosts();
    return planner.take();
}

void read_guest(const ContentSource& content, std::uint64_t offset, std::span<std::byte> bytes) {
    const std::uint64_t end =
        std::clamp<std::uint64_t>(content.size(), offset, offset + bytes.size());
    const auto head = bytes.first(static_cast<std::size_t>(end - offset));
    if (!head.empty()) {
        content.read(offset, head);
    }
    std::ranges::fill(bytes.subspan(head.size()), std::byte{0});
}

}  // namespace difffuzz::qcow2
