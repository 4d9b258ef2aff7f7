#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/cases/base64.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/cases/recipe_references.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

constexpr RecipeLimits limits;
constexpr std::size_t name_bytes = 64;

bool is_name_byte(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '_';
}

// Ids become file names, so they are ours to the letter.
std::string checked_id(const json& value, const std::string& pointer) {
    const std::string id = checked_text(value, pointer, 16);
    if (id.empty() || !(id[0] >= 'a' && id[0] <= 'z') ||
        !std::all_of(id.begin(), id.end(), is_name_byte)) {
        throw RecipeError(pointer, "must be an id: a small letter, then at most 15 of a-z, 0-9, _");
    }
    return id;
}

// A word of a vocabulary: operation, command, format, option of a format.
std::string checked_name(const json& value, const std::string& pointer) {
    const std::string name = checked_text(value, pointer, name_bytes);
    if (name.empty() || name[0] == '-' || !std::all_of(name.begin(), name.end(), [](char byte) {
            return is_name_byte(byte) || byte == '-' || byte == '.';
        })) {
        throw RecipeError(pointer, "must be a name of a-z, 0-9, '_', '-' and '.'");
    }
    return name;
}

// Text that reaches a command line: printable, and nothing that could lead out of the workspace.
void require_harmless(const std::string& text, const std::string& pointer) {
    const bool printable = std::all_of(text.begin(), text.end(),
                                       [](char byte) { return byte >= 0x20 && byte < 0x7f; });
    if (!printable) {
        throw RecipeError(pointer, "holds bytes that are not printable ASCII; use base64");
    }
    if (text.find('/') != std::string::npos || text.find(':') != std::string::npos ||
        text.find('{') != std::string::npos) {
        throw RecipeError(pointer,
                          "holds '/', ':' or '{': paths, protocols and json references "
                          "are not allowed in recipes");
    }
    if (text.find("driver") != std::string::npos || text.find("file.") != std::string::npos) {
        throw RecipeError(pointer, "names a driver: image options are not allowed in recipes");
    }
}

Scalar scalar_from(const json& value, const std::string& pointer) {
    if (value.is_number_integer()) {
        if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) {
            throw RecipeError(pointer, "is a number beyond 64 bits with sign");
        }
        return NumberValue{value.get<std::int64_t>()};
    }
    if (value.is_string()) {
        std::string text = checked_text(value, pointer, limits.text_bytes);
        require_harmless(text, pointer);
        return WordValue{std::move(text)};
    }
    ObjectFields fields(value, pointer);
    Scalar result;
    if (fields.optional("size") != nullptr) {
        SizeValue size{fields.number("size", 0, UINT64_MAX), fields.text("as", name_bytes)};
        require_harmless(size.as, fields.at("as"));
        if (spelled_bytes(size.as) != size.bytes) {
            throw RecipeError(fields.at("as"),
                              "does not spell the size " + std::to_string(size.bytes));
        }
        result = std::move(size);
    } else if (fields.optional("literal") != nullptr) {
        LiteralValue literal{fields.text("literal", limits.text_bytes)};
        require_harmless(literal.text, fields.at("literal"));
        result = std::move(literal);
    } else if (fields.optional("base64") != nullptr) {
        const auto bytes = base64_decode(fields.text("base64", limits.text_bytes * 2));
        if (!bytes) {
            throw RecipeError(fields.at("base64"), "is not base64");
        }
        if (bytes->find('\0') != std::string::npos || bytes->find('/') != std::string::npos ||
            bytes->find(':') != std::string::npos || bytes->find('{') != std::string::npos) {
            throw RecipeError(fields.at("base64"), "decodes to text with NUL, '/', ':' or '{'");
        }
        result = BytesValue{*bytes};
    } else if (const json* image = fields.optional("image"); image != nullptr) {
        result = ImageValue{checked_id(*image, fields.at("image"))};
    } else {
        throw RecipeError(pointer,
                          "must be a string, a number, or an object with size, literal, "
                          "base64, image or options");
    }
    fields.finish();
    return result;
}

std::vector<FormatOption> options_from(const json& array, const std::string& pointer) {
    if (!array.is_array() || array.size() > limits.options) {
        throw RecipeError(
            pointer, "must be an array of at most " + std::to_string(limits.options) + " options");
    }
    std::vector<FormatOption> options;
    for (const json& item : array) {
        ObjectFields fields(item, pointer + "/" + std::to_string(options.size()));
        FormatOption option{checked_name(fields.required("name"), fields.at("name")),
                            scalar_from(fields.required("value"), fields.at("value"))};
        fields.finish();
        options.push_back(std::move(option));
    }
    return options;
}

Value value_from(const json& value, const std::string& pointer) {
    if (value.is_object() && value.contains("options")) {
        ObjectFields fields(value, pointer);
        OptionList list{options_from(fields.required("options"), fields.at("options"))};
        fields.finish();
        return list;
    }
    return to_value(scalar_from(value, pointer));
}

Fill fill_from(const json& value, const std::string& pointer) {
    ObjectFields fields(value, pointer);
    Fill fill;
    if (fields.optional("byte") != nullptr) {
        fill = ByteFill{static_cast<std::uint8_t>(fields.number("byte", 0, 255))};
    } else if (fields.optional("random") != nullptr) {
        fill = RandomFill{fields.number("random", 0, UINT64_MAX)};
    } else {
        fill = RepeatFill{fields.number("repeat", 0, UINT64_MAX),
                          static_cast<std::uint32_t>(fields.number("period", 1, 4096))};
    }
    fields.finish();
    return fill;
}

ContentWrite write_from(const json& value, const std::string& pointer) {
    ObjectFields fields(value, pointer);
    ContentWrite write;
    const std::string kind = fields.text("kind", name_bytes);
    if (kind == "write") {
        write.kind = WriteKind::write;
    } else if (kind == "compressed") {
        write.kind = WriteKind::compressed;
    } else if (kind == "zero") {
        write.kind = WriteKind::zero;
    } else if (kind == "unmap") {
        write.kind = WriteKind::unmap;
    } else {
        throw RecipeError(fields.at("kind"), "must be write, compressed, zero or unmap");
    }
    write.offset = fields.number("offset", 0, limits.image_size);
    write.length = fields.number("length", 1, limits.image_size);
    if (has_data(write.kind)) {
        write.fill = fill_from(fields.required("fill"), fields.at("fill"));
    }
    fields.finish();
    return write;
}

// A name as name_json() writes it. It may reach a command line: without NUL.
std::string name_from(const json& value, const std::string& pointer) {
    std::string name;
    if (value.is_string()) {
        name = checked_text(value, pointer, 255);
    } else {
        ObjectFields fields(value, pointer);
        const auto bytes = base64_decode(fields.text("base64", 1024));
        fields.finish();
        if (!bytes) {
            throw RecipeError(fields.at("base64"), "is not base64");
        }
        name = *bytes;
    }
    if (name.empty() || name.size() > 255 || name.find('\0') != std::string::npos) {
        throw RecipeError(pointer, "must be a name of 1 to 255 bytes without NUL");
    }
    return name;
}

SnapshotRecipe snapshot_from(const json& value, const std::string& pointer) {
    ObjectFields fields(value, pointer);
    SnapshotRecipe snapshot{name_from(fields.required("name"), fields.at("name")),
                            static_cast<std::uint32_t>(fields.number("after", 0, limits.writes))};
    fields.finish();
    return snapshot;
}

BitmapRecipe bitmap_from(const json& value, const std::string& pointer) {
    ObjectFields fields(value, pointer);
    BitmapRecipe bitmap;
    bitmap.name = name_from(fields.required("name"), fields.at("name"));
    bitmap.granularity = fields.number("granularity", 1, std::uint64_t{1} << 31);
    const json& enabled = fields.required("enabled");
    if (!enabled.is_boolean()) {
        throw RecipeError(fields.at("enabled"), "must be true or false");
    }
    bitmap.enabled = enabled.get<bool>();
    for (const json& item : fields.array("dirty", limits.writes)) {
        ObjectFields range(item, fields.at("dirty") + "/" + std::to_string(bitmap.dirty.size()));
        bitmap.dirty.push_back({range.number("offset", 0, limits.image_size),
                                range.number("length", 1, limits.image_size)});
        range.finish();
    }
    fields.finish();
    return bitmap;
}

Damage damage_from(const json& value, const std::string& pointer) {
    ObjectFields fields(value, pointer);
    Damage damage{checked_name(fields.required("field"), fields.at("field")),
                  fields.number("index", 0, UINT64_MAX), fields.number("value", 0, UINT64_MAX)};
    fields.finish();
    return damage;
}

// Reads an array that may be absent.
template <typename Item>
std::vector<Item> optional_array(ObjectFields& fields, const std::string& name, std::size_t most,
                                 Item (*read)(const json&, const std::string&)) {
    std::vector<Item> items;
    if (fields.optional(name) != nullptr) {
        for (const json& item : fields.array(name, most)) {
            items.push_back(read(item, fields.at(name) + "/" + std::to_string(items.size())));
        }
    }
    return items;
}

ImageRecipe image_from(const json& value, const std::string& pointer) {
    ObjectFields fields(value, pointer);
    ImageRecipe image;
    image.id = checked_id(fields.required("id"), fields.at("id"));
    image.format = checked_name(fields.required("format"), fields.at("format"));
    image.size = fields.number("size", 0, limits.image_size);
    image.options = options_from(fields.required("options"), fields.at("options"));
    if (const json* backing = fields.optional("backing")) {
        image.backing = checked_id(*backing, fields.at("backing"));
    }
    for (const json& item : fields.array("content", limits.writes)) {
        image.content.push_back(
            write_from(item, fields.at("content") + "/" + std::to_string(image.content.size())));
    }
    image.snapshots = optional_array(fields, "snapshots", limits.snapshots, snapshot_from);
    image.bitmaps = optional_array(fields, "bitmaps", limits.bitmaps, bitmap_from);
    image.damage = optional_array(fields, "damage", limits.damage, damage_from);
    fields.finish();
    return image;
}

Intent intent_from(const json& value, const std::string& pointer) {
    if (value.is_string()) {
        const auto& word = value.get_ref<const std::string&>();
        if (word == "valid") {
            return ValidIntent{};
        }
        if (word == "damaged") {
            return DamagedIntent{};
        }
        throw RecipeError(pointer, "must be \"valid\", \"damaged\" or {\"refused\": rule}");
    }
    ObjectFields fields(value, pointer);
    RefusedIntent intent{checked_name(fields.required("refused"), fields.at("refused"))};
    fields.finish();
    return intent;
}

// "-f", "--output", or the name of an operand such as "bs", which is written "bs=VALUE".
void require_option(const std::string& option, bool has_value, const std::string& pointer) {
    const bool dashed = option.starts_with('-');
    const bool spelled = std::all_of(option.begin(), option.end(), [&](char byte) {
        return (byte >= 'a' && byte <= 'z') ||
               (dashed && (is_name_byte(byte) || (byte >= 'A' && byte <= 'Z') || byte == '-'));
    });
    if (option.size() < 2 || !spelled) {
        throw RecipeError(pointer,
                          "must be an option such as -f or --output, or an operand "
                          "such as bs");
    }
    if (!dashed) {
        require_harmless(option, pointer);
        if (!has_value) {
            throw RecipeError(pointer, "is an operand, which needs a value");
        }
    }
}

Argument argument_from(const json& value, const std::string& pointer) {
    ObjectFields fields(value, pointer);
    Argument argument;
    if (const json* inner = fields.optional("value")) {
        argument.value = value_from(*inner, fields.at("value"));
    }
    if (fields.optional("option") != nullptr) {
        argument.option = fields.text("option", name_bytes);
        require_option(argument.option, argument.value.has_value(), fields.at("option"));
    } else if (!argument.value) {
        throw RecipeError(pointer, "needs an option, a value, or both");
    }
    fields.finish();
    return argument;
}

Step step_from(const json& value, const std::string& pointer) {
    ObjectFields fields(value, pointer);
    Step step;
    const std::string actor = fields.text("actor", name_bytes);
    if (actor != "tool" && actor != "neutral") {
        throw RecipeError(fields.at("actor"), "must be tool or neutral");
    }
    step.actor = actor == "tool" ? Actor::tool : Actor::neutral;
    step.operation = checked_name(fields.required("operation"), fields.at("operation"));
    step.command = checked_name(fields.required("command"), fields.at("command"));
    step.intent = intent_from(fields.required("intent"), fields.at("intent"));
    for (const json& item : fields.array("arguments", limits.arguments)) {
        step.arguments.push_back(argument_from(
            item, fields.at("arguments") + "/" + std::to_string(step.arguments.size())));
    }
    fields.finish();
    return step;
}

}  // namespace

Case case_from_json(const json& value) {
    ObjectFields fields(value, "");
    require_schema(fields.text("schema", name_bytes), recipe_schema);
    Case c;
    c.operation = checked_name(fields.required("operation"), "/operation");
    for (const json& item : fields.array("images", limits.images)) {
        c.images.push_back(image_from(item, "/images/" + std::to_string(c.images.size())));
    }
    for (const json& item : fields.array("outputs", limits.outputs)) {
        ObjectFields output(item, "/outputs/" + std::to_string(c.outputs.size()));
        c.outputs.push_back({checked_id(output.required("id"), output.at("id")),
                             checked_name(output.required("format"), output.at("format"))});
        output.finish();
    }
    for (const json& item : fields.array("steps", limits.steps)) {
        c.steps.push_back(step_from(item, "/steps/" + std::to_string(c.steps.size())));
    }
    fields.finish();
    if (c.steps.empty()) {
        throw RecipeError("/steps", "must hold at least one step");
    }
    require_references(c);
    return c;
}

Case case_from_text(std::string_view text) {
    return case_from_json(parse_bounded(text, limits.file_bytes));
}

}  // namespace difffuzz
