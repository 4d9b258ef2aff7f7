// A recipe as strangers hand it to `repro`: JSON to a case and back.
//
// Input: the text.
//
//  1. Any bytes end as a case or as a RecipeError with one short sentence.
//  2. A case survives the way to JSON and back, and its text is canonical: the same again.
//  3. A field that nobody knows is refused, in every object of a recipe.
//  4. What is read is bounded: images, outputs, steps, arguments, writes, texts.
//  5. The memory taken stays within a fixed part and a multiple of the text.
#include "core/cases/recipe_json.hpp"

#include <nlohmann/json.hpp>

#include "tests/fuzz/memory_meter.hpp"
#include "tests/fuzz/seeds.hpp"
#include "tests/fuzz/target_rows.hpp"
#include "tests/support/sample_case.hpp"

namespace difffuzz::fuzz {
namespace {

using nlohmann::json;

constexpr std::size_t max_message_bytes = 1000;
// A byte of text ("[") can become an array of its own, with the parser's record of it.
constexpr std::size_t fixed_bytes = std::size_t{64} << 10;
constexpr std::size_t bytes_per_byte = 512;
// Objects of one recipe that are tried with an unknown field.
constexpr std::size_t max_objects = 8;

std::optional<Case> read(std::string_view text) {
    try {
        return case_from_text(text);
    } catch (const RecipeError& error) {
        const std::string_view message = error.what();
        require(!message.empty() && message.size() <= max_message_bytes,
                "an error is one sentence");
        return std::nullopt;
    }
}

void collect_objects(const json& value, const json::json_pointer& at,
                     std::vector<json::json_pointer>& found) {
    if (value.is_object()) {
        found.push_back(at);
        for (const auto& item : value.items()) {
            collect_objects(item.value(), at / item.key(), found);
        }
    } else if (value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i) {
            collect_objects(value[i], at / i, found);
        }
    }
}

void check_unknown_fields(const json& recipe) {
    std::vector<json::json_pointer> objects;
    collect_objects(recipe, json::json_pointer(), objects);
    const std::size_t stride = objects.size() / max_objects + 1;
    for (std::size_t i = 0; i < objects.size(); i += stride) {
        json changed = recipe;
        changed[objects[i]]["nobody_knows"] = 1;
        require(!read(changed.dump()), "an unknown field is refused");
    }
}

void check_bounds(const Case& c) {
    const RecipeLimits limits;
    std::uint64_t left = limits.content_bytes;
    require(c.images.size() <= limits.images && c.outputs.size() <= limits.outputs &&
                c.steps.size() <= limits.steps,
            "images, outputs and steps are bounded");
    for (const ImageRecipe& image : c.images) {
        require(image.size <= limits.image_size && image.content.size() <= limits.writes &&
                    image.options.size() <= limits.options,
                "an image is bounded");
        for (const ContentWrite& write : image.content) {
            const std::uint64_t length = has_data(write.kind) ? write.length : 0;
            require(length <= left, "the data of all images are bounded");
            left -= length;
        }
    }
    for (const Step& step : c.steps) {
        require(step.arguments.size() <= limits.arguments, "arguments are bounded");
    }
}

Verdict run(std::string_view input) {
    const MemoryMeter meter;
    const std::optional<Case> c = read(input);
    require(meter.peak() <= fixed_bytes + bytes_per_byte * input.size(), "the memory is bounded");
    if (!c) {
        return Verdict::refused;
    }
    check_bounds(*c);
    const json recipe = to_json(*c);
    const std::string text = recipe.dump();
    const std::optional<Case> again = read(text);
    require(again && *again == *c, "a case survives the way to JSON and back");
    require(to_json(*again).dump() == text, "the text is canonical");
    check_unknown_fields(recipe);
    return Verdict::accepted;
}

std::vector<Seed> seeds() {
    const Case c = test::sample_case();
    const std::string valid = to_json(c).dump();
    std::vector<Seed> seeds{{valid}};
    add_prefixes(seeds, valid, 48);
    seeds.push_back({valid.substr(0, valid.size() - 1), Verdict::refused});
    const auto add = [&](Verdict expected, auto change) {
        Case changed = c;
        change(changed);
        seeds.push_back({to_json(changed).dump(), expected});
    };
    const auto accepted = Verdict::accepted;
    const auto refused = Verdict::refused;
    const RecipeLimits limits;
    add(accepted, [](Case& s) { s.steps.insert(s.steps.end(), 3, s.steps[0]); });
    add(accepted, [&](Case& s) {
        s.steps.assign(limits.steps, {Actor::neutral, "info", "info", {}, {}});
    });
    add(refused, [&](Case& s) {
        s.steps.assign(limits.steps + 1, {Actor::neutral, "info", "info", {}, {}});
    });
    add(accepted, [&](Case& s) { s.images[0].size = limits.image_size; });
    add(refused, [&](Case& s) { s.images[0].size = limits.image_size + 1; });
    add(accepted, [](Case& s) { s.images[0].content[0].length = 4096; });
    add(accepted, [](Case& s) { s.images[0].content[0].length = 4097; });
    add(refused, [](Case& s) { s.images[0].content[0].length = 0; });
    add(refused, [](Case& s) { s.images[1].backing = "src"; });
    add(refused, [](Case& s) { s.images[1].id = "base"; });
    seeds.push_back({with(valid, "\"operation\"", "\"operation\":1,\"operation\""), refused});
    seeds.push_back({with(valid, "difffuzz.recipe/1", "difffuzz.recipe/2"), refused});
    seeds.push_back({with(valid, "{", "{\"extra\":null,"), refused});
    seeds.push_back({with(valid, "4097", "4.5"), refused});
    seeds.push_back({with(valid, "4097", "-1"), refused});
    seeds.push_back({with(valid, "4097", "18446744073709551616"), refused});
    seeds.push_back({with(valid, "\"raw\"", "\"json:{}\""), refused});
    seeds.push_back({with(valid, "first", "\xff"), refused});
    seeds.push_back({with(valid, "{", " \n\t{")});
    seeds.push_back({repeated(max_input_bytes, '['), refused});
    seeds.push_back({valid + valid, refused});
    const std::string key = "\"" + repeated(2000, 'k') + "\":1";
    seeds.push_back({"{" + key + "," + key + "}", refused});
    return seeds;
}

}  // namespace

Target recipe_json() { return {"recipe_json", Tier::rest, run, seeds}; }

}  // namespace difffuzz::fuzz
