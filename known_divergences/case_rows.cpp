#include "known_divergences/case_rows.hpp"

#include <algorithm>
#include <limits>

#include "images/format.hpp"

namespace difffuzz {
namespace {

Cell number(std::uint64_t value) {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::min(value, most));
}

// A value as it is spelled on the command line, and as a number where it is one.
struct Spelled {
    Cell text;
    Cell value;
};

Spelled spelled(const SizeValue& size) { return {size.as, number(size.bytes)}; }
Spelled spelled(const NumberValue& value) { return {std::to_string(value.value), value.value}; }
Spelled spelled(const WordValue& word) { return {word.text, {}}; }
Spelled spelled(const LiteralValue& literal) { return {literal.text, {}}; }
Spelled spelled(const BytesValue& bytes) { return {bytes.bytes, {}}; }
Spelled spelled(const ImageValue& image) { return {image.id, {}}; }
Spelled spelled(const OptionList&) { return {}; }

template <typename Variant>
Spelled spelled_value(const Variant& value) {
    return std::visit([](const auto& one) { return spelled(one); }, value);
}

std::string_view intent_of(const Step& step) {
    if (std::holds_alternative<RefusedIntent>(step.intent)) {
        return "refused";
    }
    return std::holds_alternative<DamagedIntent>(step.intent) ? "damaged" : "valid";
}

std::vector<Row> step_rows(const Case& c) {
    std::vector<Row> rows;
    for (std::size_t n = 0; n < c.steps.size(); ++n) {
        const Step& step = c.steps[n];
        const auto* refused = std::get_if<RefusedIntent>(&step.intent);
        rows.push_back({number(n), step.operation,
                        std::string(step.actor == Actor::tool ? "tool" : "neutral"),
                        std::string(intent_of(step)), refused != nullptr ? refused->rule : ""});
    }
    return rows;
}

std::vector<Row> arg_rows(const Case& c) {
    std::vector<Row> rows;
    for (std::size_t n = 0; n < c.steps.size(); ++n) {
        for (const Argument& argument : c.steps[n].arguments) {
            const Spelled value = argument.value ? spelled_value(*argument.value) : Spelled{};
            rows.push_back({number(n), argument.option, value.text, value.value});
            const auto* list = argument.value ? std::get_if<OptionList>(&*argument.value) : nullptr;
            for (const FormatOption& option :
                 list != nullptr ? list->options : std::vector<FormatOption>{}) {
                const Spelled item = spelled_value(option.value);
                rows.push_back(
                    {number(n), argument.option + " " + option.name, item.text, item.value});
            }
        }
    }
    return rows;
}

std::uint64_t depth_of(const Case& c, const ImageRecipe& image) {
    std::uint64_t depth = 0;
    for (const ImageRecipe* at = &image; at != nullptr && at->backing && depth < c.images.size();
         at = find_image(c, *at->backing)) {
        ++depth;
    }
    return depth;
}

std::vector<Row> image_rows(const Case& c) {
    std::vector<Row> rows;
    for (const ImageRecipe& image : c.images) {
        const bool backs = std::ranges::any_of(
            c.images, [&](const ImageRecipe& other) { return other.backing == image.id; });
        const Format* format = find_format(image.format);
        rows.push_back({image.id, image.format, std::string(backs ? "backing" : "input"),
                        number(format != nullptr ? format->actual_size(image) : image.size),
                        number(depth_of(c, image))});
    }
    for (const OutputImage& output : c.outputs) {
        rows.push_back({output.id, output.format, std::string("output"), Cell{}, Cell{}});
    }
    return rows;
}

std::vector<Row> feature_rows(const Case& c) {
    std::vector<Row> rows;
    for (const ImageRecipe& image : c.images) {
        const auto add = [&](const char* name, Cell value) {
            rows.push_back({image.id, std::string(name), std::move(value)});
        };
        for (const FormatOption& option : image.options) {
            const Spelled value = spelled_value(option.value);
            rows.push_back(
                {image.id, option.name,
                 std::holds_alternative<std::int64_t>(value.value) ? value.value : value.text});
        }
        if (image.backing) {
            add("backing", *image.backing);
        }
        const Format* format = find_format(image.format);
        if (format != nullptr && format->cluster_bytes != nullptr) {
            add("cluster_bytes", number(format->cluster_bytes(image)));
        }
        add("writes", number(image.content.size()));
        add("snapshots", number(image.snapshots.size()));
        add("bitmaps", number(image.bitmaps.size()));
        add("damaged", number(image.damage.size()));
    }
    return rows;
}

std::string_view kind_name(WriteKind kind) {
    switch (kind) {
        case WriteKind::write:
            return "write";
        case WriteKind::compressed:
            return "compressed";
        case WriteKind::zero:
            return "zero";
        case WriteKind::unmap:
            return "unmap";
    }
    return "";
}

std::vector<Row> write_rows(const Case& c) {
    std::vector<Row> rows;
    for (const ImageRecipe& image : c.images) {
        for (const ContentWrite& write : image.content) {
            rows.push_back({image.id, std::string(kind_name(write.kind)), number(write.offset),
                            number(write.length)});
        }
    }
    return rows;
}

std::vector<Row> damage_rows(const Case& c) {
    std::vector<Row> rows;
    for (const ImageRecipe& image : c.images) {
        for (const Damage& damage : image.damage) {
            rows.push_back({image.id, damage.field, number(damage.index), number(damage.value)});
        }
    }
    return rows;
}

}  // namespace

const std::array<TableShape, case_table_count>& case_tables() {
    static constexpr std::array<TableShape, case_table_count> shapes{{
        {"step", "n, op, actor, intent, rule", 5},
        {"arg", "step, option, value, number", 4},
        {"image", "id, format, role, vsize, depth", 5},
        {"feature", "image, name, value", 3},
        {"write", "image, kind, offset, length", 4},
        {"damage", "image, field, place, value", 4},
    }};
    return shapes;
}

std::vector<Row> case_rows(const Case& c, CaseTable table) {
    switch (table) {
        case CaseTable::step:
            return step_rows(c);
        case CaseTable::arg:
            return arg_rows(c);
        case CaseTable::image:
            return image_rows(c);
        case CaseTable::feature:
            return feature_rows(c);
        case CaseTable::write:
            return write_rows(c);
        case CaseTable::damage:
            return damage_rows(c);
    }
    return {};
}

std::string main_image(const Step& step) {
    for (const Argument* argument : positionals(step)) {
        if (argument->value) {
            if (const auto* image = std::get_if<ImageValue>(&*argument->value)) {
                return image->id;
            }
        }
    }
    return {};
}

}  // namespace difffuzz
