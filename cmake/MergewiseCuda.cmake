# SPDX-License-Identifier: Apache-2.0
# CUDA where nvcc is found: sets mergewise_cuda, enables the language. Nothing is linked to the driver (libcuda), so that
# programs start without one.
set(MERGEWISE_CUDA AUTO CACHE STRING "Compile the CUDA kernels: AUTO (where nvcc is found), ON, OFF")
set_property(CACHE MERGEWISE_CUDA PROPERTY STRINGS AUTO ON OFF)
# Code for A100 and H100, and PTX, which later drivers compile for later GPUs.
set(MERGEWISE_CUDA_ARCHITECTURES "80-real;90-real;90-virtual;100-virtual" CACHE STRING "As CMAKE_CUDA_ARCHITECTURES")

set(mergewise_cuda OFF)
if(NOT MERGEWISE_CUDA STREQUAL "OFF")
  # Where CMake looks too ($CUDACXX, $PATH), and where CUDA is installed.
  find_program(MERGEWISE_NVCC NAMES "$ENV{CUDACXX}" nvcc HINTS /usr/local/cuda/bin DOC "CUDA's compiler")
  mark_as_advanced(MERGEWISE_NVCC)
  if(MERGEWISE_NVCC)
    set(mergewise_cuda ON)
  elseif(MERGEWISE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "MERGEWISE_CUDA is ON, but there is no nvcc: put it on PATH or set CUDACXX")
  endif()
endif()

if(mergewise_cuda)
  set(CMAKE_CUDA_COMPILER ${MERGEWISE_NVCC})
  set(CMAKE_CUDA_ARCHITECTURES ${MERGEWISE_CUDA_ARCHITECTURES})
  enable_language(CUDA)
  # CMake 3.25 does not know this nvcc's option for C++20.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  message(STATUS "CUDA kernels: ${MERGEWISE_NVCC} for ${MERGEWISE_CUDA_ARCHITECTURES}")
else()
  message(STATUS "CUDA kernels: left out (no nvcc, or MERGEWISE_CUDA=OFF)")
endif()
