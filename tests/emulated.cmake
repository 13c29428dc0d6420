# SPDX-License-Identifier: Apache-2.0
#
# The kernels, emulated: the library rebuilt over the emulator in each of its flavours, and the tests of
# the library once more over that. The race checker is 30 times slower than plain emulation, so it takes
# those cases of a test that run every kernel (tiers.cmake).

# emulated_program(name flavour): test_NAME_FLAVOUR over the emulated library, once
function(emulated_program name flavour)
    if(NOT TARGET test_${name}_${flavour})
        shoal_test_program(test_${name}_${flavour} test_${name}.c shoal_emulated_${flavour} Threads::Threads)
    endif()
endfunction()

foreach(flavour ${SIMT_FLAVOURS})
    set(library shoal_emulated_${flavour})
    set(borrow) # with few cases, sanitizers look at the kernels for double, and at the library's host side
    if(flavour IN_LIST tier_few_cases)
        set(borrow BORROW shoal_emulated_plain)
    endif()
    shoal_add_library(${library} STATIC EMULATED ${flavour} ${borrow} FLAGS ${SIMT_FLAGS_${flavour}})
    set(order)
    if(flavour STREQUAL "plain") # sanitized code runs in order
        set(order ENVIRONMENT SIMT_ORDER=12345 SIMT_LEAKS=1)
    endif()
    set(seen ${CMAKE_CURRENT_BINARY_DIR}/kernels_asan)
    foreach(name ${table_tests} ${promise_tests} rng)
        tier_cases(cases ${name} ${flavour})
        if(cases_runs)
            emulated_program(${name} ${flavour})
            if(flavour STREQUAL "asan")
                set(order ENVIRONMENT SIMT_SEEN=${seen}/${name})
            endif()
            shoal_test(${name}_${flavour} ${flavour} ${order}
                       COMMAND test_${name}_${flavour} --small --backend=cuda ${cases})
            if(flavour STREQUAL "asan")
                set_property(TEST ${name}_${flavour} PROPERTY FIXTURES_SETUP kernels_asan)
            endif()
        endif()
    endforeach()
    if(flavour STREQUAL "asan")
        set(order)
        file(MAKE_DIRECTORY ${seen})
        shoal_test(kernels_seen asan ${here}/kernels_seen.sh ${seen} ${SHOAL_ROOT}/src)
        set_tests_properties(kernels_seen PROPERTIES FIXTURES_REQUIRED kernels_asan)
    endif()
    if(flavour IN_LIST tier_few_cases)
        continue()
    endif()
    if(flavour IN_LIST tier_99)
        # the limit of architectures 86, 89 and 120, in KiB per block; fresh memory holds numbers, not NaNs
        foreach(name ${table_tests} rng)
            shoal_test(${name}_plain_99 plain ENVIRONMENT SIMT_SHARED=99 SIMT_FRESH=64
                       COMMAND test_${name}_plain --small --backend=cuda ${plain_cases_quick_${name}})
        endforeach()
    endif()

    if(flavour STREQUAL "plain")
        emulated_program(launch ${flavour})
        shoal_test(launch_${flavour} ${flavour} ${order} COMMAND test_launch_${flavour})
    endif()
    foreach(name core ${api_tests})
        emulated_program(${name} ${flavour})
        set(few)
        if(name STREQUAL "rng_api")
            set(few --small)
        endif()
        shoal_test(${name}_${flavour} ${flavour} test_${name}_${flavour} ${few})
    endforeach()
    if(flavour STREQUAL "asan") # the CPU's code too
        foreach(name ${table_tests} rng)
            shoal_test(${name}_cpu_${flavour} ${flavour} test_${name}_${flavour} --small --backend=cpu)
        endforeach()
    endif()
    simt_objects(smallsym_many_${flavour} ${flavour} ${here}/smallsym_many.cu)
    target_compile_options(smallsym_many_${flavour} PRIVATE ${SHOAL_WARNINGS})
    shoal_many_program(test_smallsym_many_${flavour} ${library} smallsym_many_${flavour})
    set(sizes 1,3,33)
    if(NOT flavour STREQUAL "plain") # the kernels that judge are the same at all sizes
        set(sizes 2,5)
    endif()
    foreach(backend cpu cuda)
        shoal_test(smallsym_many_${backend}_${flavour} ${flavour} test_smallsym_many_${flavour}
                   --backend=${backend} --count=12 --n=${sizes})
    endforeach()
    if(NOT flavour STREQUAL "tsan") # they test the library's host side
        foreach(name graph threads sort_graph)
            add_executable(test_${name}_${flavour})
            simt_sources(test_${name}_${flavour} ${flavour} ${here}/test_${name}.cu)
            target_include_directories(test_${name}_${flavour} PRIVATE ${SHOAL_INCLUDES} ${here})
            target_link_libraries(test_${name}_${flavour} PRIVATE ${library} Threads::Threads)
            shoal_test(${name}_${flavour} ${flavour} test_${name}_${flavour})
        endforeach()
    endif()
endforeach()
