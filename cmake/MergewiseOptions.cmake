# SPDX-License-Identifier: Apache-2.0
# The one place that says how our own code is compiled: link every own target to mergewise_options.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

add_library(mergewise_options INTERFACE)
target_compile_features(mergewise_options INTERFACE cxx_std_20)
target_include_directories(mergewise_options INTERFACE ${PROJECT_SOURCE_DIR})
set(warnings
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast
  -Wconversion -Wno-sign-conversion
  # g++ 12 reports -Wrestrict inside std::string's operator+ where nothing overlaps (GCC bug 105329).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<BOOL:${MERGEWISE_WERROR}>:-Werror>)
# What nvcc makes of our code for the host's compiler passes fewer.
set(cuda_warnings -Xcompiler=-Wall,-Wextra,-Wshadow $<$<BOOL:${MERGEWISE_WERROR}>:-Werror=all-warnings>)
target_compile_options(mergewise_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>" "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_warnings}>")

if(MERGEWISE_SANITIZE)
  # Applied to the link of every target, so that gtest's main carries the runtime too.
  add_compile_options(-fsanitize=${MERGEWISE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MERGEWISE_SANITIZE})
  # With sanitizers' instrumentation g++ takes the untaken branch of a variant's copy for an uninitialised read.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
