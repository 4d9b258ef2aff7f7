// A case that has every kind of value which a recipe can hold.
#pragma once

#include "core/cases/case.hpp"

namespace difffuzz::test {

inline Case sample_case() {
    Case c;
    c.operation = "convert";
    ImageRecipe base;
    base.id = "base";
    base.format = "raw";
    base.size = 4097;
    base.content = {{WriteKind::write, 1, 7, ByteFill{204}}};
    ImageRecipe top;
    top.id = "src";
    top.format = "qcow2";
    top.size = 1 << 20;
    top.options = {{"cluster_size", plain_size(4096)}, {"lazy_refcounts", WordValue{"on"}}};
    top.backing = "base";
    top.content = {{WriteKind::compressed, 0, 4096, RandomFill{UINT64_MAX}},
                   {WriteKind::zero, 4096, 512, ByteFill{}},
                   {WriteKind::write, 8192, 3, RepeatFill{5, 16}},
                   {WriteKind::unmap, 0, 4096, ByteFill{}}};
    top.snapshots = {{"first", 0}, {"second", 3}};
    top.bitmaps = {{"b", 65536, false, {{0, 1}, {65536, 4096}}}};
    top.damage = {{"header.l1_offset", 2, UINT64_MAX}};
    c.images = {base, top};
    c.outputs = {{"out", "raw"}};
    Step step{Actor::tool, "convert", "convert", RefusedIntent{"some-rule"}, {}};
    step.arguments = {
        {"-f", WordValue{"qcow2"}},
        {"-m", NumberValue{-3}},
        {"-S", SizeValue{1024, "1k"}},
        {"-O", LiteralValue{"nonsense"}},
        {"-c", std::nullopt},
        {"-l", BytesValue{"\xff\x01"}},
        {"-o", OptionList{{{"size", plain_size(5)}, {"backing", ImageValue{"base"}}}}},
        {"", ImageValue{"src"}},
        {"", ImageValue{"out"}}};
    c.steps = {step};
    return c;
}

}  // namespace difffuzz::test
