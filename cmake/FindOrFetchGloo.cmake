# SPDX-License-Identifier: Apache-2.0
# Gives the target mergewise_gloo: the distribution's Gloo (libgloo-dev) where there is one, else the same revision
# built from source.
find_package(Gloo QUIET CONFIG)
add_library(mergewise_gloo INTERFACE)
if(Gloo_FOUND)
  target_link_libraries(mergewise_gloo INTERFACE gloo)
else()
  message(STATUS "libgloo-dev not found: building Gloo from its pinned source")
  include(FetchContent)
  set(GLOO_INSTALL OFF CACHE BOOL "" FORCE)
  set(GLOO_STATIC_OR_SHARED STATIC CACHE STRING "" FORCE)
  FetchContent_Declare(gloo
    GIT_REPOSITORY https://github.com/facebookincubator/gloo.git
    GIT_TAG 5b143513263133af2b95547e97c07cebeb72bf72)
  FetchContent_MakeAvailable(gloo)
  target_include_directories(mergewise_gloo SYSTEM INTERFACE ${gloo_SOURCE_DIR} ${gloo_BINARY_DIR})
  target_link_libraries(mergewise_gloo INTERFACE gloo)
endif()
