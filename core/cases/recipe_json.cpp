#include "core/cases/recipe_json.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/cases/base64.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

struct ScalarJson {
    json operator()(const SizeValue& value) const {
        return {{"size", value.bytes}, {"as", value.as}};
    }
    json operator()(const NumberValue& value) const { return value.value; }
    json operator()(const WordValue& value) const { return value.text; }
    json operator()(const LiteralValue& value) const { return {{"literal", value.text}}; }
    json operator()(const BytesValue& value) const {
        return {{"base64", base64_encode(value.bytes)}};
    }
    json operator()(const ImageValue& value) const { return {{"image", value.id}}; }
    json operator()(const OptionList& list) const {
        return {{"options", options_json(list.options)}};
    }

    static json options_json(const std::vector<FormatOption>& options) {
        json array = json::array();
        for (const FormatOption& option : options) {
            array.push_back(
                {{"name", option.name}, {"value", std::visit(ScalarJson{}, option.value)}});
        }
        return array;
    }
};

struct FillJson {
    json operator()(const ByteFill& fill) const { return {{"byte", fill.byte}}; }
    json operator()(const RandomFill& fill) const { return {{"random", fill.seed}}; }
    json operator()(const RepeatFill& fill) const {
        return {{"repeat", fill.seed}, {"period", fill.period}};
    }
};

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
    return "write";
}

// Names are bytes: as text where they are printable ASCII, else in base64.
json name_json(const std::string& name) {
    const bool plain = std::all_of(name.begin(), name.end(),
                                   [](char byte) { return byte >= 0x20 && byte < 0x7f; });
    return plain ? json(name) : json{{"base64", base64_encode(name)}};
}

// What few images have stands in the recipe only where there is some.
void add_features(const ImageRecipe& image, json& result) {
    for (const SnapshotRecipe& snapshot : image.snapshots) {
        result["snapshots"].push_back(
            {{"name", name_json(snapshot.name)}, {"after", snapshot.after}});
    }
    for (const BitmapRecipe& bitmap : image.bitmaps) {
        json dirty = json::array();
        for (const ByteRange& range : bitmap.dirty) {
            dirty.push_back({{"offset", range.offset}, {"length", range.length}});
        }
        result["bitmaps"].push_back({{"name", name_json(bitmap.name)},
                                     {"granularity", bitmap.granularity},
                                     {"enabled", bitmap.enabled},
                                     {"dirty", std::move(dirty)}});
    }
    for (const Damage& damage : image.damage) {
        result["damage"].push_back(
            {{"field", damage.field}, {"index", damage.index}, {"value", damage.value}});
    }
}

json image_json(const ImageRecipe& image) {
    json content = json::array();
    for (const ContentWrite& write : image.content) {
        json item{
            {"kind", kind_name(write.kind)}, {"offset", write.offset}, {"length", write.length}};
        if (has_data(write.kind)) {
            item["fill"] = std::visit(FillJson{}, write.fill);
        }
        content.push_back(std::move(item));
    }
    json result{{"id", image.id},
                {"format", image.format},
                {"size", image.size},
                {"options", ScalarJson::options_json(image.options)},
                {"content", std::move(content)}};
    if (image.backing) {
        result["backing"] = *image.backing;
    }
    add_features(image, result);
    return result;
}

json step_json(const Step& step) {
    json arguments = json::array();
    for (const Argument& argument : step.arguments) {
        json item = json::object();
        if (!argument.option.empty()) {
            item["option"] = argument.option;
        }
        if (argument.value) {
            item["value"] = std::visit(ScalarJson{}, *argument.value);
        }
        arguments.push_back(std::move(item));
    }
    json intent = "valid";
    if (const auto* refused = std::get_if<RefusedIntent>(&step.intent)) {
        intent = json{{"refused", refused->rule}};
    } else if (std::holds_alternative<DamagedIntent>(step.intent)) {
        intent = "damaged";
    }
    return {{"actor", step.actor == Actor::tool ? "tool" : "neutral"},
            {"operation", step.operation},
            {"command", step.command},
            {"intent", std::move(intent)},
            {"arguments", std::move(arguments)}};
}

}  // namespace

json to_json(const Case& c) {
    json images = json::array();
    for (const ImageRecipe& image : c.images) {
        images.push_back(image_json(image));
    }
    json outputs = json::array();
    for (const OutputImage& output : c.outputs) {
        outputs.push_back({{"id", output.id}, {"format", output.format}});
    }
    json steps = json::array();
    for (const Step& step : c.steps) {
        steps.push_back(step_json(step));
    }
    return {{"schema", recipe_schema},
            {"operation", c.operation},
            {"images", std::move(images)},
            {"outputs", std::move(outputs)},
            {"steps", std::move(steps)}};
}

}  // namespace difffuzz
