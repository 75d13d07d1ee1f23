# SPDX-License-Identifier: Apache-2.0
# Fails if one of OBJECTS (read with NM) defines a symbol of which the linker would keep any one copy.
foreach(object ${OBJECTS})
  execute_process(COMMAND ${NM} --defined-only ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]* [VWuvw] [^\n]*" weak "${symbols}")
  if(weak)
    string(REPLACE ";" "\n" weak "${weak}")
    message(FATAL_ERROR "${object} defines weak symbols:\n${weak}")
  endif()
endforeach()
