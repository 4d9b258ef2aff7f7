# Makes a source file of known_divergences/*.toml, so that the program needs no file beside it.

# difffuzz_built_in_entries(TARGET)
function(difffuzz_built_in_entries target)
    file(GLOB entries CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/known_divergences/*.toml)
    set(rows "")
    foreach(entry ${entries})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${entry})
        file(READ ${entry} text)
        get_filename_component(name ${entry} NAME)
        string(APPEND rows "        {\"known_divergences/${name}\", R\"entry(${text})entry\"},\n")
    endforeach()
    set(source ${CMAKE_BINARY_DIR}/built_in_entries.cpp)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"#include \"known_divergences/registry.hpp\"

namespace difffuzz {

std::vector<EntryFile> built_in_entry_files() {
    return {
@rows@    };
}

}  // namespace difffuzz
")
    target_sources(${target} PRIVATE ${source})
endfunction()
