# SPDX-License-Identifier: Apache-2.0
#
# The kernels, emulated: the library rebuilt over the emulator in each of its flavours, and the tests of
# the library once more over that. The race checker is 30 times slower than plain emulation, so it takes
# those cases of a test that run every kernel.

set(SIMT_FLAVOURS "" CACHE INTERNAL "")
if(CMAKE_CXX_COMPILER)
    add_subdirectory(simt)
endif()
set(label_plain quick)
set(label_asan sanitizer)
set(label_tsan sanitizer)

# Cases of a test where all of them would take many minutes: every kernel once. Faults of the input, which
# choose among the same kernels, are left to the other flavours.
set(asan_cases_tridiag_rcond any_scale singular_and depends_on_the_matrix)
set(asan_cases_tridiag_verdict residual_status overflow arrays)
set(asan_cases_smallsym_estimate diagonal stands_alone scales refined_systems)
set(tsan_cases_tridiag a_long dominant pivoted bad_right_hand_side variants)
set(tsan_cases_tridiag_hard extreme_scales pivots_of)
set(tsan_cases_tridiag_rcond any_scale)
set(tsan_cases_tridiag_verdict residual_status overflow)
set(tsan_cases_tridiag_long several_levels singular_systems)
set(tsan_cases_tridiag_gspike table_5)
set(tsan_cases_tridiag_gspike_blocks sizes reducible singular)
set(tsan_cases_tridiag_pscheme any_number overflow rows_as_the_paper zero_pivot long_systems)
set(tsan_cases_tridiag_transposed failures_stay) # the shift is one kernel
set(tsan_cases_recur several_tiles no_first_values) # what blocks tell each other: chains of tiles,
set(tsan_cases_recur_verdict overflow)              # and tiles that are walked
set(tsan_cases_smallsym no_system_and_one groups_of_several teams_of_any_size)
set(tsan_cases_smallsym_verdict one_unknown)
set(tsan_cases_smallsym_estimate diagonal refined)
set(tsan_cases_symindef stopped counters) # a few hundred stages of each kind
set(tsan_cases_symindef_accuracy refinement inverses)
set(tsan_cases_symindef_forms g_j_gt)
set(tsan_cases_symindef_modify splits) # the one kernel of its own
set(tsan_cases_symindef_blocked left different_size) # stages, and panels of two blocks of threads
set(tsan_cases_symindef_lapack singular) # refinement is in symindef_accuracy
set(tsan_cases_sort any_number strides different_lengths long_rows total_order)
set(tsan_cases_pricing bits) # every kernel, few paths
set(tsan_cases_pricing_wide bump)
set(tsan_cases_expou bits)
set(tsan_cases_bullet bits)
set(tsan_cases_pde many)
set(tsan_cases_american bits many_functions)
set(tsan_cases_cva bits)
set(tsan_cases_cva_american bits half)
set(tsan_cases_dataset bits)
set(tsan_cases_surrogate what_is_refused cannot_use)
set(tsan_cases_surrogate_cells few_rows)
foreach(flavour ${SIMT_FLAVOURS})
    set(library shoal_emulated_${flavour})
    set(label ${label_${flavour}})
    shoal_add_library(${library} STATIC EMULATED ${flavour} FLAGS ${SIMT_FLAGS_${flavour}})
    foreach(name core ${table_tests} tridiag_api smallsym_api recur_api symindef_api sort_api pricing_api cva_api rng rng_api)
        shoal_test_program(test_${name}_${flavour} test_${name}.c ${library} Threads::Threads)
    endforeach()
    simt_objects(smallsym_many_${flavour} ${flavour} ${here}/smallsym_many.cu)
    target_compile_options(smallsym_many_${flavour} PRIVATE ${SHOAL_WARNINGS})
    shoal_many_program(test_smallsym_many_${flavour} ${library} smallsym_many_${flavour})
    set(sizes 1,3,33)
    if(NOT flavour STREQUAL "plain") # the kernels that judge are the same at all sizes
        set(sizes 2,5)
    endif()
    foreach(backend cpu cuda)
        simt_add_test(smallsym_many_${backend}_${flavour} ${flavour} LABELS ${label}
                      COMMAND test_smallsym_many_${flavour} --backend=${backend} --count=12
                              --n=${sizes})
    endforeach()
    foreach(name graph threads sort_graph)
        if(flavour STREQUAL "tsan") # they test the library's host side
            continue()
        endif()
        add_executable(test_${name}_${flavour})
        simt_sources(test_${name}_${flavour} ${flavour} ${here}/test_${name}.cu)
        target_include_directories(test_${name}_${flavour} PRIVATE ${SHOAL_INCLUDES} ${here})
        target_link_libraries(test_${name}_${flavour} PRIVATE ${library} Threads::Threads)
        simt_add_test(${name}_${flavour} ${flavour} LABELS ${label} COMMAND test_${name}_${flavour})
    endforeach()
    foreach(name ${table_tests})
        set(program test_${name}_${flavour} --small --backend=cuda)
        set(environment)
        if(flavour STREQUAL "plain") # sanitized code runs in order
            set(environment ENVIRONMENT SIMT_ORDER=12345)
        endif()
        simt_add_test(${name}_${flavour} ${flavour} LABELS ${label} ${environment}
                      COMMAND ${program} ${${flavour}_cases_${name}})
        if(flavour STREQUAL "asan") # the CPU's code too
            simt_add_test(${name}_cpu_${flavour} ${flavour} LABELS ${label}
                          COMMAND test_${name}_${flavour} --small --backend=cpu)
        endif()
    endforeach()
    foreach(name tridiag_api smallsym_api recur_api symindef_api sort_api pricing_api cva_api)
        simt_add_test(${name}_${flavour} ${flavour} LABELS ${label}
                      COMMAND test_${name}_${flavour})
    endforeach()
    foreach(name rng rng_api)
        simt_add_test(${name}_${flavour} ${flavour} LABELS ${label}
                      COMMAND test_${name}_${flavour} --small)
    endforeach()
    if(flavour STREQUAL "plain")
        simt_add_test(rng_${flavour}_shuffled ${flavour} LABELS ${label} ENVIRONMENT SIMT_ORDER=12345
                      COMMAND test_rng_${flavour} --small --backend=cuda)
    endif()
    if(flavour STREQUAL "asan")
        simt_add_test(core_${flavour} ${flavour} LABELS ${label} COMMAND test_core_${flavour})
    endif()
endforeach()
