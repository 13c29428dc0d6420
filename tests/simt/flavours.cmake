# SPDX-License-Identifier: Apache-2.0
#
# The emulator in its flavours, and how to build .cu files against it.
#
#   SIMT_FLAVOURS                     those that this compiler and machine can build and run, out of
#                                     plain, asan (with ubsan) and tsan
#   simt_plain, simt_asan, simt_tsan  static libraries; linking one brings include path and flags
#   SIMT_FLAGS_<flavour>              its compile and link flags, for C files that do not link it
#   simt_objects(target flavour a.cu ...)   an object library of .cu files, emulated
#   simt_sources(target flavour a.cu ...)   adds emulated .cu files to a target and links the flavour
#   simt_add_test(name flavour LABELS l.. [ENVIRONMENT v=x..] COMMAND c..)
#                                     a CTest run as the flavour needs it; any other word: as it is
#
# A .cu file is compiled through a generated one-line .cpp that includes it, so that it never goes to
# nvcc where the CUDA language is enabled as well. Messages still name the .cu and its lines.

set(SIMT_DIR ${CMAKE_CURRENT_LIST_DIR})
set(SIMT_ENGINE fiber.cpp scheduler.cpp barrier.cpp warp.cpp shared.cpp report.cpp device.cpp
                memory.cpp stream.cpp)
set(SIMT_WARNINGS -Wall -Wextra -Wpedantic -Wshadow)
set(SIMT_ARITHMETIC -ffp-contract=off)

# Compiling takes as long as running: -O1, and lines alone (-g1), make both short. Where few cases run under the
# sanitizers, SIMT_FEW_CASES, -O0 is better still: gcc compiles five times as fast.
option(SIMT_FEW_CASES "sanitized code is compiled without optimization" OFF)
set(optimize -O1)
if(SIMT_FEW_CASES)
    set(optimize -O0)
endif()
set(SIMT_FLAGS_plain -O1 CACHE INTERNAL "")
# AddressSanitizer sees null pointers and those beyond the end where they are used; its checks by calls are less code.
set(SIMT_FLAGS_asan -fsanitize=address,undefined -fno-sanitize=null,pointer-overflow -fno-sanitize-recover=undefined
                    --param=asan-instrumentation-with-call-threshold=0 -fno-omit-frame-pointer ${optimize} -g1
                    CACHE INTERNAL "")
set(SIMT_FLAGS_tsan -fsanitize=thread -fno-omit-frame-pointer ${optimize} -g1 CACHE INTERNAL "")

# What ThreadSanitizer must be started by where addresses are randomised too widely for it.
find_program(SIMT_SETARCH setarch)
mark_as_advanced(SIMT_SETARCH)

# Sets SIMT_RUNS_<flavour> in the cache: how a program of this flavour runs here; "no" if it does not.
function(simt_probe flavour)
    if(DEFINED SIMT_RUNS_${flavour})
        return()
    endif()
    set(dir ${CMAKE_CURRENT_BINARY_DIR}/probe_${flavour})
    file(WRITE ${dir}/probe.cpp
         "#include <vector>\nint main() { return (int)std::vector<int>(3).size() - 3; }\n")
    try_compile(links ${dir} ${dir}/probe.cpp COMPILE_DEFINITIONS ${SIMT_FLAGS_${flavour}}
                LINK_OPTIONS ${SIMT_FLAGS_${flavour}} COPY_FILE ${dir}/probe)
    set(how no)
    if(links)
        set(direct ${dir}/probe)
        set(leakless ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 ${dir}/probe)
        set(unrandomised ${SIMT_SETARCH} ${CMAKE_HOST_SYSTEM_PROCESSOR} -R ${dir}/probe)
        foreach(way direct leakless unrandomised)
            if(how STREQUAL "no" AND NOT (way STREQUAL "unrandomised" AND NOT SIMT_SETARCH))
                execute_process(COMMAND ${${way}} RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
                if(status EQUAL 0)
                    set(how ${way})
                endif()
            endif()
        endforeach()
    endif()
    set(SIMT_RUNS_${flavour} ${how} CACHE INTERNAL "")
endfunction()

# The emulator is left out of ThreadSanitizer's sight: it is the one who tells it what is ordered.
function(simt_flavour flavour)
    set(target simt_${flavour})
    list(TRANSFORM SIMT_ENGINE PREPEND ${SIMT_DIR}/ OUTPUT_VARIABLE files)
    add_library(${target} STATIC ${files})
    # one file for the compiler: it reads the headers once, and a switch of fibers is code in line
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    target_compile_features(${target} PUBLIC cxx_std_17)
    target_include_directories(${target} BEFORE PUBLIC ${SIMT_DIR})
    target_compile_options(${target} PRIVATE ${SIMT_WARNINGS} ${SIMT_ARITHMETIC})
    if(flavour STREQUAL "asan")
        target_compile_definitions(${target} PRIVATE SIMT_ASAN=1)
        target_compile_options(${target} PRIVATE ${SIMT_FLAGS_asan})
    elseif(flavour STREQUAL "tsan")
        target_compile_definitions(${target} PRIVATE SIMT_TSAN=1)
        target_compile_options(${target} PRIVATE -O1 -g)
    endif()
    target_compile_definitions(${target} INTERFACE SHOAL_EMULATED)
    target_compile_options(${target} INTERFACE ${SIMT_FLAGS_${flavour}} ${SIMT_ARITHMETIC}
                           $<$<COMPILE_LANGUAGE:CXX>:-Wno-unknown-pragmas>)
    find_package(Threads REQUIRED)
    target_link_libraries(${target} PUBLIC Threads::Threads m)
    target_link_options(${target} INTERFACE ${SIMT_FLAGS_${flavour}})
    if(flavour STREQUAL "asan") # the sanitizers' tables have a million addresses, which the linker then knows
        target_link_options(${target} INTERFACE -no-pie)
    endif()
endfunction()

# Names of the one-line .cpp files for a target, in `result`
function(simt_wrap result target)
    set(wrappers)
    foreach(file ${ARGN})
        get_filename_component(path ${file} ABSOLUTE)
        get_filename_component(room ${path} DIRECTORY)
        string(REGEX MATCH "[^/]+(/paper)?$" room ${room}) # two modules have a paper/pscheme.cu
        string(REPLACE "/" "_" room ${room})
        get_filename_component(stem ${path} NAME_WE)
        set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/emulated/${target}/${room}_${stem}.cpp)
        get_filename_component(from ${wrapper} DIRECTORY)
        file(RELATIVE_PATH path ${from} ${path}) # so that a compiler cache serves every checkout
        set(SIMT_WRAPPED "#include \"${path}\"\n")
        file(CONFIGURE OUTPUT ${wrapper} CONTENT "@SIMT_WRAPPED@" @ONLY)
        list(APPEND wrappers ${wrapper})
    endforeach()
    set(${result} ${wrappers} PARENT_SCOPE)
endfunction()

function(simt_objects target flavour)
    simt_wrap(wrappers ${target} ${ARGN})
    add_library(${target} OBJECT ${wrappers})
    target_link_libraries(${target} PRIVATE simt_${flavour})
    list(LENGTH wrappers files)
    if(files GREATER 8) # reading the emulator's headers takes longer than most kernels do
        target_precompile_headers(${target} PRIVATE ${SIMT_DIR}/cuda_runtime.h)
    endif()
endfunction()

function(simt_sources target flavour)
    simt_wrap(wrappers ${target} ${ARGN})
    target_sources(${target} PRIVATE ${wrappers})
    target_link_libraries(${target} PRIVATE simt_${flavour})
endfunction()

function(simt_add_test name flavour)
    cmake_parse_arguments(arg "" "" "LABELS;ENVIRONMENT;COMMAND" ${ARGN})
    set(command ${arg_COMMAND})
    set(environment ${arg_ENVIRONMENT})
    if(SIMT_RUNS_${flavour} STREQUAL "unrandomised")
        set(command ${SIMT_SETARCH} ${CMAKE_HOST_SYSTEM_PROCESSOR} -R ${command})
    elseif(SIMT_RUNS_${flavour} STREQUAL "leakless")
        list(APPEND environment ASAN_OPTIONS=detect_leaks=0)
    endif()
    add_test(NAME ${name} COMMAND ${command})
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 900 SKIP_RETURN_CODE 77)
    if(environment)
        set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}")
    endif()
endfunction()
