# SPDX-License-Identifier: Apache-2.0
#
# Tests of the emulator itself: right programs in every flavour and order, planted bugs caught.

function(simt_program name flavour)
    add_executable(${name}_${flavour})
    simt_sources(${name}_${flavour} ${flavour} ${SIMT_DIR}/${name}.cu)
    target_compile_options(${name}_${flavour} PRIVATE ${SIMT_WARNINGS})
endfunction()

# The leak check takes seconds for each process on aarch64, so that one order has it.
foreach(flavour ${SIMT_FLAVOURS})
    foreach(program simt_test_kernels simt_test_words simt_test_runtime)
        simt_program(${program} ${flavour})
        simt_add_test(${program}_${flavour} ${flavour} LABELS ${flavour}
                      COMMAND ${program}_${flavour})
        if(SIMT_FEW_CASES AND NOT flavour STREQUAL "plain")
            continue()
        endif()
        foreach(order reverse 1 2)
            simt_add_test(${program}_${flavour}_${order} ${flavour} LABELS ${flavour}
                          ENVIRONMENT SIMT_ORDER=${order} ASAN_OPTIONS=detect_leaks=0
                          COMMAND ${program}_${flavour})
        endforeach()
    endforeach()
    simt_program(simt_test_bugs ${flavour})
    simt_add_test(simt_no_bug_${flavour} ${flavour} LABELS ${flavour}
                  ENVIRONMENT ASAN_OPTIONS=detect_leaks=0 COMMAND simt_test_bugs_${flavour} none)
endforeach()

# Speed: 4096 blocks of 128 threads with barriers must take seconds at most.
simt_program(simt_test_speed plain)
simt_add_test(simt_test_speed plain LABELS plain COMMAND simt_test_speed_plain)

# simt_bug(flavour name pattern [variable=value...])
function(simt_bug flavour name pattern)
    if(flavour IN_LIST SIMT_FLAVOURS)
        simt_add_test(simt_bug_${name}_${flavour} ${flavour} LABELS ${flavour}
                      ENVIRONMENT ASAN_OPTIONS=detect_leaks=0 ${ARGN}
                      COMMAND ${SIMT_DIR}/caught.sh ${SIMT_DIR}/simt_test_bugs.cu ${name} ${pattern}
                              $<TARGET_FILE:simt_test_bugs_${flavour}>)
    endif()
endfunction()

simt_bug(plain missing_barrier_order "[0-9]+ wrong results" SIMT_ORDER=1)
simt_bug(plain uninitialised "not a number")
simt_bug(plain divergent "divergent __syncthreads in block \\([01],[01],0\\) of kernel divergent: \
50 of 100 threads waiting, 50 finished")
simt_bug(plain two_barriers "divergent __syncthreads: .* waits at another one, .*bugs.cu:")
simt_bug(plain warp_and_block "3 at a warp operation, .*bugs.cu:[0-9]+, mask 0xffffffff")
simt_bug(plain stranger "shuffle reads lane 20, which is not in its mask 0x0000ffff")
simt_bug(plain not_in_mask "lane 16 is not in its own mask")
simt_bug(plain lonely_block "1 of 3 blocks finished without the grid barrier")
simt_bug(plain no_cooperation "a grid barrier needs SHOAL_LAUNCH_COOPERATIVE")
simt_bug(plain no_one_answers "endless wait in kernel no_one_answers")
simt_bug(plain past_dynamic_canary "wrote past the end of its dynamic shared memory")
simt_bug(plain past_static_canary "wrote past the end of a,")
simt_bug(plain past_global_canary "something was written behind an allocation of 512 bytes")
simt_bug(plain before_global_canary "something was written before an allocation of 512 bytes")
simt_bug(plain never_freed "simt: 5[0-9]* bytes were never freed" SIMT_LEAKS=1)
simt_bug(asan past_dynamic_shared "AddressSanitizer")
simt_bug(asan past_static_shared "AddressSanitizer|out of bounds")
simt_bug(asan past_static_pointer "AddressSanitizer")
simt_bug(asan past_global "AddressSanitizer: heap-buffer-overflow")
simt_bug(tsan missing_barrier "ThreadSanitizer: data race")
simt_bug(tsan missing_barrier_wide "ThreadSanitizer: data race")
simt_bug(tsan missing_syncwarp "ThreadSanitizer: data race")
simt_bug(tsan shuffle_for_barrier "ThreadSanitizer: data race")
simt_bug(tsan one_barrier_of_two "ThreadSanitizer: data race")
simt_bug(tsan race_between_blocks "ThreadSanitizer: data race")
simt_bug(tsan missing_fence "ThreadSanitizer: data race")
