# SPDX-License-Identifier: Apache-2.0
#
# What this machine offers. Each feature is on, or off with its reason, and the list is printed at
# the end; only a C11 compiler is required.

set(SHOAL_FEATURES "" CACHE INTERNAL "")
function(shoal_feature name state reason)
    set(SHOAL_FEATURES "${SHOAL_FEATURES};${name}|${state}|${reason}" CACHE INTERNAL "")
endfunction()
function(shoal_print_features)
    foreach(line ${SHOAL_FEATURES})
        string(REPLACE "|" ";" parts "${line}")
        list(GET parts 0 name)
        list(GET parts 1 state)
        list(GET parts 2 reason)
        message(STATUS "feature ${name}: ${state} (${reason})")
    endforeach()
endfunction()

# Every file of ours: strict warnings, no contraction (fma only where it is written), no fast-math.
set(SHOAL_WARNINGS -Wall -Wextra -Wpedantic -Wshadow)
set(SHOAL_C_WARNINGS ${SHOAL_WARNINGS} -Wstrict-prototypes -Wmissing-prototypes)
if(SHOAL_WERROR)
    list(APPEND SHOAL_WARNINGS -Werror)
    list(APPEND SHOAL_C_WARNINGS -Werror)
endif()
set(SHOAL_ARITHMETIC -ffp-contract=off -fno-math-errno)

shoal_feature(compiler on "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}, ${CMAKE_BUILD_TYPE}")

find_package(OpenMP COMPONENTS C)
if(OpenMP_C_FOUND)
    shoal_feature(threads on "OpenMP ${OpenMP_C_VERSION}")
else()
    shoal_feature(threads off "the compiler has no OpenMP: one thread")
endif()

# Files of matrices, of the program alone. A parallel HDF5 would need MPI.
set(SHOAL_HAVE_HDF5 FALSE)
if(NOT SHOAL_HDF5) # OFF, NO, 0
    shoal_feature(hdf5 off "SHOAL_HDF5 is ${SHOAL_HDF5}")
elseif(SHOAL_PROGRAM OR SHOAL_TESTS)
    find_package(HDF5 QUIET COMPONENTS C)
    set(why_not "")
    if(NOT HDF5_FOUND)
        set(why_not "no HDF5 library found")
    elseif(HDF5_IS_PARALLEL)
        set(why_not "the HDF5 found needs MPI")
    endif()
    if(NOT why_not)
        set(SHOAL_HAVE_HDF5 TRUE)
        shoal_feature(hdf5 on "HDF5 ${HDF5_VERSION}")
    elseif(SHOAL_HDF5 STREQUAL "AUTO")
        shoal_feature(hdf5 off ${why_not})
    else()
        message(FATAL_ERROR "SHOAL_HDF5 is ${SHOAL_HDF5}: ${why_not}")
    endif()
endif()

# C++ serves the kernels' tests (the emulator); the library itself is C, or C and CUDA.
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
    set(CMAKE_CXX_STANDARD 17)
    shoal_feature(emulator on "kernels are tested on the CPU with ${CMAKE_CXX_COMPILER_ID}")
else()
    shoal_feature(emulator off "no C++ compiler")
endif()

if(SHOAL_PROGRAM OR SHOAL_TESTS)
    shoal_feature(peers on "OpenBLAS and CUDA's libraries are not linked: the bench opens those it finds")
endif()

# A peer of the bench that is linked. It is tried with the file that calls it, for its interface moves from release to
# release.
set(SHOAL_HAVE_QUANTLIB FALSE)
if(SHOAL_QUANTLIB)
    find_path(SHOAL_QUANTLIB_INCLUDE ql/quantlib.hpp)
    find_library(SHOAL_QUANTLIB_LIBRARY QuantLib)
    mark_as_advanced(SHOAL_QUANTLIB_INCLUDE SHOAL_QUANTLIB_LIBRARY)
    if(NOT CMAKE_CXX_COMPILER OR NOT SHOAL_QUANTLIB_INCLUDE OR NOT SHOAL_QUANTLIB_LIBRARY)
        message(FATAL_ERROR "SHOAL_QUANTLIB is ${SHOAL_QUANTLIB}: no C++ compiler, or no QuantLib found "
                            "(libquantlib0-dev of Debian)")
    endif()
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # the file has no main
    try_compile(SHOAL_QUANTLIB_WORKS ${PROJECT_BINARY_DIR}/quantlib
                ${PROJECT_SOURCE_DIR}/bench/peers_quantlib.cpp
                CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${SHOAL_QUANTLIB_INCLUDE};${PROJECT_SOURCE_DIR};${PROJECT_SOURCE_DIR}/include"
                CXX_STANDARD 17 OUTPUT_VARIABLE said)
    unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
    if(NOT SHOAL_QUANTLIB_WORKS)
        message(FATAL_ERROR "SHOAL_QUANTLIB is ${SHOAL_QUANTLIB}: bench/peers_quantlib.cpp does not compile "
                            "with it:\n${said}")
    endif()
    set(SHOAL_HAVE_QUANTLIB TRUE)
    shoal_feature(quantlib on "a peer of the bench: ${SHOAL_QUANTLIB_LIBRARY}")
endif()

set(SHOAL_HAVE_CUDA FALSE)
if(NOT SHOAL_CUDA) # OFF, NO, 0
    shoal_feature(cuda off "SHOAL_CUDA is ${SHOAL_CUDA}")
else()
    # The compiler found is offered to CMake's trial through the environment: should it not work, CUDA
    # is off and the rest goes on, whereas a compiler that is set is an error if it fails.
    find_program(SHOAL_NVCC nvcc PATHS /usr/local/cuda/bin /opt/cuda/bin)
    mark_as_advanced(SHOAL_NVCC)
    set(given "$ENV{CUDACXX}")
    set(nvcc "${given}")
    if(NOT given AND SHOAL_NVCC)
        set(nvcc ${SHOAL_NVCC})
    endif()
    set(why_not "no CUDA compiler found")
    if(nvcc AND NOT CMAKE_CXX_COMPILER)
        set(why_not "nvcc needs a C++ compiler")
    elseif(nvcc)
        set(why_not "${nvcc} does not work")
        set(ENV{CUDACXX} ${nvcc})
        check_language(CUDA)
        set(ENV{CUDACXX} "${given}")
    endif()
    if(SHOAL_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES ${SHOAL_CUDA_ARCHITECTURES})
    elseif(NOT CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
        set(CMAKE_CUDA_ARCHITECTURES 90)
    endif()
    if(CMAKE_CUDA_COMPILER AND CMAKE_CXX_COMPILER)
        enable_language(CUDA)
        set(CMAKE_CUDA_STANDARD 17)
        set(CMAKE_CUDA_RUNTIME_LIBRARY Static) # a binary built with CUDA runs where there is none
        set(SHOAL_HAVE_CUDA TRUE)
        string(REPLACE ";" "," architectures "${CMAKE_CUDA_ARCHITECTURES}")
        shoal_feature(cuda on "nvcc ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${architectures}")
    elseif(SHOAL_CUDA STREQUAL "AUTO")
        shoal_feature(cuda off ${why_not})
    else()
        message(FATAL_ERROR "SHOAL_CUDA is ${SHOAL_CUDA}: ${why_not}")
    endif()
endif()
# Contraction off on the GPU too; the host part of a .cu is held to the same warnings.
set(SHOAL_CUDA_FLAGS -fmad=false -Xcompiler=-ffp-contract=off -Xcompiler=-Wall -Xcompiler=-Wextra
                     -Xcudafe=--diag_error=20012)
if(SHOAL_WERROR)
    list(APPEND SHOAL_CUDA_FLAGS -Werror=all-warnings)
endif()
