// What difffuzz and a stand-in for a tool (apps/canary) agree on. A stand-in is handed the program
// that it stands in for, and the fault that it plants, in its environment: no other tool gets
// these.
#pragma once

namespace difffuzz::stand_in {

// Path of the program that every command is handed on to.
inline constexpr const char* program_variable = "DIFFFUZZ_STAND_IN_FOR";
// Entries of the environment that this program needs, each with this in front of it.
inline constexpr const char* entry_prefix = "DIFFFUZZ_STAND_IN_SET_";
// Names of faults, of which the first that the command is about is planted; unset: none.
inline constexpr const char* fault_variable = "DIFFFUZZ_STAND_IN_FAULT";
inline constexpr char fault_separator = ',';
// Name of an empty file that the stand-in makes in its TMPDIR when it has planted the fault.
inline constexpr const char* mark = "planted";

}  // namespace difffuzz::stand_in
