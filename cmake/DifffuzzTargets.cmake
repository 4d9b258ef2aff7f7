# Functions that make the project's targets, so that a new source file needs no build edit.

add_library(difffuzz_options INTERFACE)
target_compile_options(difffuzz_options INTERFACE
    -Wall -Wextra -Wpedantic -Werror -Wconversion -Wsign-conversion -Wold-style-cast
    -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wunused
    -Wimplicit-fallthrough)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_UNITY_BUILD)
    # What one file has at namespace scope says nothing about the next one.
    target_compile_options(difffuzz_options INTERFACE -Wshadow=local)
else()
    target_compile_options(difffuzz_options INTERFACE -Wshadow)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(difffuzz_options INTERFACE -Wduplicated-cond -Wlogical-op)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(difffuzz_options INTERFACE
        -Wno-unknown-warning-option)
endif()
target_include_directories(difffuzz_options INTERFACE ${CMAKE_SOURCE_DIR})
if(DIFFFUZZ_SANITIZE)
    # UBSan takes a third of the time to compile code that it is in: tests' own code goes without.
    target_compile_options(difffuzz_options INTERFACE
        -fsanitize=address$<$<NOT:$<BOOL:$<TARGET_PROPERTY:DIFFFUZZ_TEST_CODE>>>:,undefined>
        -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(difffuzz_options INTERFACE -fsanitize=address,undefined)
endif()
if(DIFFFUZZ_FUZZ)
    # Coverage for libFuzzer, whose main() is linked to its own targets only.
    target_compile_options(difffuzz_options INTERFACE -fsanitize=fuzzer-no-link)
    target_link_options(difffuzz_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# difffuzz_library(NAME LINK ... OWN ... ROWS REGEX): static library of every .cpp below NAME/. What
# is behind OWN is used by its own files alone. Files that match REGEX are rows of a table, which
# repeat names: in a unity build they stay on their own.
function(difffuzz_library name)
    cmake_parse_arguments(ARG "" "ROWS" "LINK;OWN" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${name}/*.cpp)
    if(sources)
        add_library(difffuzz_${name} STATIC ${sources})
        if(ARG_ROWS)
            list(FILTER sources INCLUDE REGEX ${ARG_ROWS})
            set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
        endif()
        target_link_libraries(difffuzz_${name} PUBLIC difffuzz_options ${ARG_LINK}
            PRIVATE ${ARG_OWN})
        if(name STREQUAL core)
            # What nearly every file includes and what costs most to parse.
            target_precompile_headers(difffuzz_core PRIVATE <nlohmann/json.hpp> <algorithm>
                <array> <cstdint> <map> <memory> <optional> <span> <string> <string_view>
                <variant> <vector>)
        else()
            target_precompile_headers(difffuzz_${name} REUSE_FROM difffuzz_core)
        endif()
    else()
        add_library(difffuzz_${name} INTERFACE)
        target_link_libraries(difffuzz_${name} INTERFACE difffuzz_options ${ARG_LINK})
    endif()
endfunction()

# difffuzz_report_assets(): the HTML report's style and script, as a source file of reporting.
function(difffuzz_report_assets)
    set(folder ${CMAKE_SOURCE_DIR}/reporting/reports/html)
    set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
        ${folder}/report.css ${folder}/report.js)
    file(READ ${folder}/report.css REPORT_STYLE)
    file(READ ${folder}/report.js REPORT_SCRIPT)
    configure_file(${folder}/html_assets.cpp.in ${CMAKE_BINARY_DIR}/html_assets.cpp @ONLY)
    target_sources(difffuzz_reporting PRIVATE ${CMAKE_BINARY_DIR}/html_assets.cpp)
endfunction()
