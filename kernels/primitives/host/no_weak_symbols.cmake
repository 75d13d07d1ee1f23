# SPDX-License-Identifier: Apache-2.0
# Fails if one of OBJECTS (read with NM) defines a symbol of which the linker would keep any one copy, unless its
# mangled name has the instruction set's namespace, ISA: other sets have no such symbol. (DW.ref... is a pointer.)
string(LENGTH ${ISA} length)
foreach(object ${OBJECTS})
  execute_process(COMMAND ${NM} --defined-only ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]* [VWuvw] [^\n]*" weak "${symbols}")
  list(FILTER weak EXCLUDE REGEX "${length}${ISA}|DW\\.ref\\.")
  if(weak)
    string(REPLACE ";" "\n" weak "${weak}")
    message(FATAL_ERROR "${object} defines weak symbols:\n${weak}")
  endif()
endforeach()
