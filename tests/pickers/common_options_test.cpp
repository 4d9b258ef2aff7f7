#include "pickers/common_options.hpp"

#include <gtest/gtest.h>

#include "core/tools/dialect.hpp"
#include "ops/operation.hpp"

namespace difffuzz {
namespace {

Case drawn_with(std::string_view operation, std::string_view option) {
    Plan plan = default_plan();
    plan.operations = {{std::string(operation), 1}};
    plan.refused_percent = 0;
    plan.damaged_percent = 0;
    for (std::uint64_t i = 0; i < 2000; i += 2) {
        Case c = draw_case(plan, 4, i, 0);
        const bool both = has_option(c.steps.back(), image_options_option) &&
                          has_option(c.steps.back(), object_option);
        if (has_option(c.steps.back(), option) && !both) {  // both: a locked image
            return c;
        }
    }
    throw std::logic_error("never drawn");
}

std::string line_of(const Case& c) {
    std::string line;
    for (const std::string& word : render_step(c, c.steps.back())) {
        line += word + ' ';
    }
    return line;
}

TEST(CommonOptions, NameImagesByTheirDriver) {
    Case c = drawn_with("info", image_options_option);
    EXPECT_TRUE(validate(c).empty());
    EXPECT_FALSE(has_option(c.steps.back(), "-f"));
    const std::string format(format_of(c, "src"));
    EXPECT_NE(line_of(c).find(" driver=" + format + ",file.driver=file,file.filename=src." +
                              format + " "),
              std::string::npos)
        << line_of(c);
    c.steps.back().arguments.insert(c.steps.back().arguments.begin(), {"-f", WordValue{format}});
    EXPECT_FALSE(validate(c).empty());
}

TEST(CommonOptions, LeaveTheNameOfWhatConvertWrites) {
    const Case c = drawn_with("convert", image_options_option);
    const std::string line = line_of(c);
    EXPECT_NE(line.find(" driver="), std::string::npos) << line;
    EXPECT_NE(line.find(" out." + std::string(format_of(c, "out")) + " "), std::string::npos)
        << line;
}

TEST(CommonOptions, ReachOperandsOfDd) {
    EXPECT_NE(line_of(drawn_with("dd", image_options_option)).find(" if=driver="),
              std::string::npos);
}

TEST(CommonOptions, DefineASecretThatNothingUses) {
    Case c = drawn_with("create", object_option);
    EXPECT_NE(line_of(c).find("create --object qom-type=secret,id=sec0,data=letters "),
              std::string::npos);
    EXPECT_TRUE(validate(c).empty());
    // Nothing else may stand there: objects can read files.
    for (Argument& argument : c.steps.back().arguments) {
        if (argument.option == object_option) {
            argument.value = OptionList{{{"qom-type", WordValue{"secret"}},
                                         {"id", WordValue{"sec0"}},
                                         {"file", WordValue{"/etc/passwd"}}}};
        }
    }
    EXPECT_FALSE(validate(c).empty());
}

TEST(CommonOptions, StandOnceAndWhereTheCommandHasThem) {
    Case c = drawn_with("info", object_option);
    Step& step = c.steps.back();
    step.arguments.insert(step.arguments.begin(), step.arguments.front());
    EXPECT_FALSE(validate(c).empty());
    EXPECT_TRUE(common_options("bench").empty());
    EXPECT_EQ(common_options("create"), std::vector{object_option});
    EXPECT_EQ(common_options("dd"), std::vector{image_options_option});
}

}  // namespace
}  // namespace difffuzz
