# SPDX-License-Identifier: Apache-2.0
#
# shoal_add_library(NAME [SHARED] [STATIC] [EMULATED flavour [CPU other] [COMMON other] [KERNELS other [OWN file...]]]
#                   [FLAGS flag...])
#
# Builds the library under a name. Objects of another library serve this one, too: with CPU those of the algorithms'
# .c, with COMMON those of the common files, with KERNELS those of the .cu, except OWN for double (default: all for double,
# and SHOAL_SINGLE_KERNELS for float). A new algorithm is one word in SHOAL_ALGORITHMS:
# its .c is compiled once per type and instruction level, its .cu once per type; without a .cu, in SHOAL_CPU_ALGORITHMS.
# Those are the cells that a module's method table refers to.

set(SHOAL_COMMON_CUDA src/core/device.cu src/models/exact.cu src/surrogate/cublas.cu)

# Compiled per type (and level): each has a .c, and a .cu.
set(SHOAL_ALGORITHMS rng/fill tridiag/batch tridiag/thomas tridiag/cr tridiag/pcr tridiag/hybrid tridiag/lupp
                     tridiag/qr tridiag/twocarry tridiag/gspike tridiag/paper/pscheme tridiag/paper/doubling
                     tridiag/rcond tridiag/factor band/lupp
                     smallsym/batch smallsym/gram smallsym/ldlt smallsym/ldltp smallsym/hhpcr smallsym/eigdc
                     recur/batch recur/serial recur/lookback recur/paper/pscheme recur/paper/pcr
                     symindef/triangle symindef/complete symindef/blocked symindef/jacobi
                     sort/mergepath sort/batchmerge sort/batchsort
                     models/heston models/expou models/bullet models/pde american/american surrogate/surrogate
                     cva/cva)
# The same for those that compute in double alone.
set(SHOAL_DOUBLE_ALGORITHMS surrogate/dataset cva/outer american/exact american/pde)
set(SHOAL_SINGLE_KERNELS rng/fill models/heston)
# The same for those that have no kernels, or theirs in a file of several methods: a .c alone.
set(SHOAL_CPU_ALGORITHMS smallsym/eigen smallsym/paper/stages)
# The same for double alone.
set(SHOAL_CPU_DOUBLE_ALGORITHMS cva/fit cva/adjoint models/heston_sums pricing/implied)
# Those that -O2 makes no slower than -O3, and that compile in about half the time; without precompiled headers, which gcc
# takes from the same level of optimization alone.
set(SHOAL_PLAIN_ALGORITHMS smallsym/hhpcr smallsym/eigdc smallsym/paper/stages)
# And for kernels beside those of a method, or of several: a .cu alone.
set(SHOAL_CUDA_ALGORITHMS smallsym/ldlt_thread smallsym/careful smallsym/wide smallsym/factor surrogate/layers)
# Those of the papers' own variants, to compare with: a .cu alone. The emulator always has them.
set(SHOAL_PAPER_ALGORITHMS smallsym/paper/ldlt smallsym/paper/hhpcr)
# Compiled once: every .c that is none of an algorithm. Public functions, checks, tables.
file(GLOB SHOAL_COMMON CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} src/shoal.c src/*/*.c src/*/paper/*.c)
set(algorithm_files ${SHOAL_ALGORITHMS} ${SHOAL_DOUBLE_ALGORITHMS} ${SHOAL_CPU_ALGORITHMS} ${SHOAL_CPU_DOUBLE_ALGORITHMS})
list(TRANSFORM algorithm_files REPLACE ".+" "src/\\0.c")
list(REMOVE_ITEM SHOAL_COMMON ${algorithm_files})

# Kernels that nvcc compiles together: alone, each of these files takes it longer to begin than to compile. A name, and
# the files.
set(SHOAL_KERNELS_TOGETHER
    "tridiag tridiag/batch tridiag/thomas tridiag/cr tridiag/pcr tridiag/lupp tridiag/gspike tridiag/rcond tridiag/factor
     tridiag/qr tridiag/paper/pscheme tridiag/paper/doubling"
    "tridiag_hybrid tridiag/hybrid tridiag/twocarry"
    "recur recur/batch recur/serial recur/lookback recur/paper/pscheme recur/paper/pcr"
    "symindef_surrogate symindef/triangle symindef/complete symindef/jacobi surrogate/surrogate surrogate/layers"
    "models rng/fill models/heston models/expou models/bullet models/pde"
    "sort sort/mergepath sort/batchmerge sort/batchsort"
    "smallsym smallsym/batch smallsym/factor smallsym/wide"
    "smallsym_ldltp smallsym/ldltp smallsym/careful"
    "double surrogate/dataset american/exact american/pde"
    "common core/device models/exact"
    # where nvcc only checks that they compile
    "peers ../bench/peers_cub ../bench/peers_cub_sort")

list(TRANSFORM SHOAL_PLAIN_ALGORITHMS REPLACE ".+" "src/\\0.c" OUTPUT_VARIABLE plain_files)
set_source_files_properties(${plain_files} PROPERTIES COMPILE_OPTIONS "${SHOAL_PLAIN}" SKIP_PRECOMPILE_HEADERS ON)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
    set(SHOAL_LEVELS v2 v3 v4) # the same list as src/core/isa.h
    if(SHOAL_ISA STREQUAL "native")
        execute_process(COMMAND ${CMAKE_C_COMPILER} -march=native -dM -E -x c /dev/null OUTPUT_VARIABLE said ERROR_QUIET)
        set(only v2)
        if(said MATCHES "__AVX2__" AND said MATCHES "__FMA__" AND said MATCHES "__BMI__" AND said MATCHES "__BMI2__")
            set(only v3)
            if(said MATCHES "__AVX512BW__" AND said MATCHES "__AVX512CD__" AND said MATCHES "__AVX512DQ__" AND
               said MATCHES "__AVX512VL__")
                set(only v4)
            endif()
        endif()
        set(SHOAL_LEVELS ${only})
    elseif(SHOAL_ISA IN_LIST SHOAL_LEVELS)
        set(SHOAL_LEVELS ${SHOAL_ISA})
    elseif(NOT SHOAL_ISA STREQUAL "all")
        message(FATAL_ERROR "SHOAL_ISA is '${SHOAL_ISA}'; it is all, native, v2, v3 or v4")
    endif()
else()
    set(SHOAL_LEVELS base)
endif()
string(REPLACE ";" ", " levels "${SHOAL_LEVELS}")
shoal_feature(levels on "of CPU instructions: ${levels} of ${CMAKE_SYSTEM_PROCESSOR}")

set(SHOAL_ROOT ${CMAKE_CURRENT_SOURCE_DIR})
set(SHOAL_INCLUDES ${SHOAL_ROOT}/include ${SHOAL_ROOT}/src)

# One object library of C files; its objects are appended to the list `objects` of the caller.
macro(shoal_c_objects target)
    add_library(${target} OBJECT ${ARGN})
    target_include_directories(${target} PRIVATE ${SHOAL_INCLUDES})
    target_compile_options(${target} PRIVATE ${SHOAL_C_WARNINGS} ${SHOAL_ARITHMETIC} ${flavour_flags})
    if(OpenMP_C_FOUND AND NOT emulated)
        target_link_libraries(${target} PRIVATE OpenMP::OpenMP_C)
    else()
        target_compile_options(${target} PRIVATE -fopenmp-simd)
    endif()
    if(with_cuda)
        target_compile_definitions(${target} PRIVATE SHOAL_CUDA)
    endif()
    target_compile_definitions(${target} PRIVATE ${paper_definition})
    if(NOT SHOAL_ISA STREQUAL "all" AND NOT levels STREQUAL "base")
        target_compile_definitions(${target} PRIVATE SHOAL_ONLY_${levels})
    endif()
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
endmacro()

# In the list of that name, a file in place of those that SHOAL_KERNELS_TOGETHER names: it includes them, each in a
# namespace of its own, and before that what they include.
function(shoal_join_kernels list_name)
    set(list ${${list_name}})
    foreach(group ${SHOAL_KERNELS_TOGETHER})
        separate_arguments(group UNIX_COMMAND ${group})
        list(POP_FRONT group together)
        list(TRANSFORM group REPLACE ".+" ${SHOAL_ROOT}/src/\\0.cu OUTPUT_VARIABLE files)
        list(TRANSFORM files REPLACE "/src/[.][.]/" "/")
        list(GET files 0 first)
        if(NOT first IN_LIST list)
            continue()
        endif()
        list(REMOVE_ITEM list ${files})
        set(headers)
        set(bodies)
        foreach(name ${group})
            list(POP_FRONT files file)
            set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
            file(STRINGS ${file} included REGEX "^#include")
            list(APPEND headers ${included})
            string(MAKE_C_IDENTIFIER ${name}.cu space)
            string(APPEND bodies "namespace ${space} {\n#include \"${name}.cu\"\n}\n")
        endforeach()
        list(REMOVE_DUPLICATES headers)
        list(JOIN headers "\n" headers)
        set(joined ${CMAKE_BINARY_DIR}/kernels/${together}.cu)
        file(CONFIGURE OUTPUT ${joined} CONTENT "${headers}\n${bodies}")
        list(APPEND list ${joined})
    endforeach()
    set(${list_name} ${list} PARENT_SCOPE)
endfunction()

macro(shoal_cuda_objects target)
    if(emulated)
        simt_objects(${target} ${flavour} ${ARGN})
        # CUDA lets a kernel read numbers as vectors; C++ must be told
        target_compile_options(${target} PRIVATE ${SHOAL_WARNINGS} ${SHOAL_ARITHMETIC} -fno-strict-aliasing)
        if(SHOAL_LEVELS MATCHES "^v[34]$") # this machine's: an fma is an instruction, not a call
            target_compile_options(${target} PRIVATE -mfma)
        endif()
    else()
        add_library(${target} OBJECT ${ARGN})
        target_compile_options(${target} PRIVATE ${SHOAL_CUDA_FLAGS})
    endif()
    target_include_directories(${target} PRIVATE ${SHOAL_INCLUDES})
    target_compile_definitions(${target} PRIVATE SHOAL_CUDA ${paper_definition})
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
endmacro()

function(shoal_add_library name)
    cmake_parse_arguments(arg "SHARED;STATIC" "EMULATED;CPU;COMMON;KERNELS" "OWN;FLAGS" ${ARGN})
    set(emulated FALSE)
    set(with_cuda ${SHOAL_HAVE_CUDA})
    set(levels ${SHOAL_LEVELS})
    set(flavour_flags ${arg_FLAGS})
    if(arg_EMULATED)
        set(emulated TRUE)
        set(with_cuda TRUE)
        set(flavour ${arg_EMULATED})
        if(NOT arg_CPU)
            set(levels base)
            list(APPEND flavour_flags -DSHOAL_ONE_LEVEL)
        endif()
    endif()
    set(own_f64 ${arg_OWN})
    set(own_f32)
    if(NOT arg_OWN)
        set(own_f64 ${SHOAL_ALGORITHMS} ${SHOAL_DOUBLE_ALGORITHMS} ${SHOAL_CUDA_ALGORITHMS} ${SHOAL_PAPER_ALGORITHMS})
        set(own_f32 ${SHOAL_SINGLE_KERNELS})
    endif()
    set(cuda_only ${SHOAL_CUDA_ALGORITHMS})
    set(paper_definition)
    if(SHOAL_PAPER_KERNELS OR SHOAL_TESTS)
        list(APPEND cuda_only ${SHOAL_PAPER_ALGORITHMS})
        set(paper_definition SHOAL_PAPER_KERNELS)
    endif()

    if(arg_COMMON)
        list(APPEND objects $<TARGET_OBJECTS:${arg_COMMON}_common>)
    else()
        list(TRANSFORM SHOAL_COMMON PREPEND ${SHOAL_ROOT}/ OUTPUT_VARIABLE common)
        shoal_c_objects(${name}_common ${common})
        if(NOT emulated)
            target_compile_options(${name}_common PRIVATE ${SHOAL_PLAIN})
        endif()
    endif()
    foreach(type f64 f32)
        set(files ${SHOAL_ALGORITHMS})
        if(type STREQUAL "f64")
            list(APPEND files ${SHOAL_DOUBLE_ALGORITHMS})
        endif()
        set(c_files ${files} ${SHOAL_CPU_ALGORITHMS})
        if(type STREQUAL "f64")
            list(APPEND c_files ${SHOAL_CPU_DOUBLE_ALGORITHMS})
        endif()
        list(TRANSFORM c_files REPLACE ".+" ${SHOAL_ROOT}/src/\\0.c)
        foreach(level ${levels})
            if(arg_CPU)
                list(APPEND objects $<TARGET_OBJECTS:${arg_CPU}_${type}_${level}>)
                continue()
            endif()
            set(target ${name}_${type}_${level})
            shoal_c_objects(${target} ${c_files})
            target_compile_definitions(${target} PRIVATE SHOAL_LEVEL=${level})
            if(type STREQUAL "f32")
                target_compile_definitions(${target} PRIVATE SHOAL_SINGLE)
            endif()
            if(NOT level STREQUAL "base")
                target_compile_options(${target} PRIVATE -march=x86-64-${level})
                target_precompile_headers(${target} PRIVATE <immintrin.h>) # longer than most files that include it
            endif()
            if(level STREQUAL "v2") # 0.4 of the time to compile, 1.3 to run (median of 47 calls): for CPUs of before 2013
                target_compile_options(${target} PRIVATE
                    "$<$<AND:$<CONFIG:Release>,$<C_COMPILER_ID:GNU>>:-O1;-finline-functions;-finline-small-functions>")
            endif()
        endforeach()
        set(cuda_files ${files} ${cuda_only})
        if(arg_KERNELS)
            set(cuda_files ${own_${type}})
            set(own none ${cuda_files})
            list(JOIN own "|" own)
            string(REPLACE "/" "_" own "${own}")
            list(APPEND objects "$<FILTER:$<TARGET_OBJECTS:${arg_KERNELS}_${type}_cuda>,EXCLUDE,/(${own})[.]>")
        endif()
        if(with_cuda AND cuda_files)
            list(TRANSFORM cuda_files REPLACE ".+" ${SHOAL_ROOT}/src/\\0.cu)
            if(NOT emulated)
                shoal_join_kernels(cuda_files)
            endif()
            set(target ${name}_${type}_cuda)
            shoal_cuda_objects(${target} ${cuda_files})
            if(type STREQUAL "f32")
                target_compile_definitions(${target} PRIVATE SHOAL_SINGLE)
            endif()
        endif()
    endforeach()
    if(with_cuda)
        list(TRANSFORM SHOAL_COMMON_CUDA PREPEND ${SHOAL_ROOT}/ OUTPUT_VARIABLE common_cuda)
        if(NOT emulated)
            shoal_join_kernels(common_cuda)
        endif()
        shoal_cuda_objects(${name}_common_cuda ${common_cuda})
        if(NOT emulated)
            target_compile_definitions(${name}_common_cuda PRIVATE SHOAL_CUDA_HOLDS="${SHOAL_CUDA_HOLDS}")
        endif()
    endif()

    set(kinds)
    if(arg_SHARED)
        add_library(${name} SHARED ${objects})
        set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION}
                              SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
        list(APPEND kinds ${name})
    endif()
    if(arg_STATIC)
        set(target ${name})
        if(arg_SHARED)
            set(target ${name}_static)
        endif()
        add_library(${target} STATIC ${objects})
        set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name})
        list(APPEND kinds ${target})
    endif()
    foreach(target ${kinds})
        target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${SHOAL_ROOT}/include>
                                                    $<INSTALL_INTERFACE:include>)
        target_link_libraries(${target} PRIVATE m)
        if(OpenMP_C_FOUND AND (NOT emulated OR arg_CPU))
            target_link_libraries(${target} PRIVATE OpenMP::OpenMP_C)
        endif()
        if(with_cuda)
            target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS}) # cuBLAS is opened at run time
        endif()
        if(with_cuda AND NOT emulated)
            find_package(CUDAToolkit REQUIRED)
            target_link_libraries(${target} PRIVATE CUDA::cudart_static)
        endif()
        if(emulated)
            target_link_libraries(${target} PUBLIC simt_${flavour})
        endif()
    endforeach()
endfunction()

# Every .cu by nvcc, for float, or double if it is for double alone: to see that it compiles. Nothing uses the results,
# and so nvcc stops at PTX: the rest, two thirds of the time, is the assembler and gcc's turn with the host's part, which
# the emulator's build compiles with more warnings. test-all assembles them, and every build with CUDA.
function(shoal_check_kernels)
    set(emulated FALSE)
    set(paper_definition SHOAL_PAPER_KERNELS)
    set(files ${SHOAL_ALGORITHMS} ${SHOAL_CUDA_ALGORITHMS} ${SHOAL_PAPER_ALGORITHMS})
    list(TRANSFORM files PREPEND src/)
    list(TRANSFORM files APPEND .cu)
    file(GLOB others RELATIVE ${SHOAL_ROOT} ${SHOAL_ROOT}/bench/*.cu ${SHOAL_ROOT}/tests/*.cu)
    list(APPEND files ${SHOAL_COMMON_CUDA} ${others})
    list(TRANSFORM files PREPEND ${SHOAL_ROOT}/)
    shoal_join_kernels(files)
    list(TRANSFORM SHOAL_DOUBLE_ALGORITHMS REPLACE ".+" ${SHOAL_ROOT}/src/\\0.cu OUTPUT_VARIABLE double_files)
    shoal_join_kernels(double_files)
    shoal_cuda_objects(shoal_kernel_check ${files})
    shoal_cuda_objects(shoal_kernel_check_double ${double_files})
    target_compile_definitions(shoal_kernel_check PRIVATE SHOAL_SINGLE SHOAL_CUDA_HOLDS="check")
    foreach(target shoal_kernel_check shoal_kernel_check_double)
        target_include_directories(${target} PRIVATE ${SHOAL_ROOT} ${SHOAL_ROOT}/tests)
        if(SHOAL_TIER STREQUAL "quick")
            set_target_properties(${target} PROPERTIES CUDA_PTX_COMPILATION ON CUDA_ARCHITECTURES 90-virtual)
        endif()
        if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.9)
            target_compile_options(${target} PRIVATE -Ofc=max --no-compress)
        endif()
    endforeach()
endfunction()
