# SPDX-License-Identifier: Apache-2.0
#
# Which test runs when: the one place that decides it.
#
#   SHOAL_TIER=quick   `make test`: every public function, every method on every type, the program, the readers'
#                      corpora, every kernel in the emulator with its threads shuffled, under AddressSanitizer and
#                      UndefinedBehaviorSanitizer in one small case each, and under the race checker one kernel of
#                      each way to synchronise.
#   SHOAL_TIER=all     `make test-all`: every test in every flavour, in all its sizes, and every kernel once more
#                      with 99 KiB of shared memory per block. `make test-slow` runs what takes hours (label slow).
#
# A test has a label that says what it runs on: native (the library), cli (the program), plain, asan, tsan (the
# emulator), gpu (skipped where no GPU answers), slow.
set(SHOAL_TIER all CACHE STRING "tests that are built: quick or all")
set_property(CACHE SHOAL_TIER PROPERTY STRINGS quick all)
if(NOT SHOAL_TIER MATCHES "^(quick|all)$")
    message(FATAL_ERROR "SHOAL_TIER is '${SHOAL_TIER}'; it must be quick or all")
endif()

# Flavours of the emulator that run few cases; in which the kernels run at 99 KiB, too; in which the bench's tests run.
# Tests of the library that run over fewer sizes. Whether clang checks the files for f32 beside those for f64.
if(SHOAL_TIER STREQUAL "quick")
    set(tier_few_cases asan tsan)
    set(SIMT_FEW_CASES ON)
    set(tier_99)
    set(tier_bench_flavours)
    set(tier_small tridiag tridiag_status tridiag_long tridiag_gspike tridiag_verdict smallsym
                   smallsym_eig smallsym_ldltp smallsym_factor sort sort_merge recur_range bullet
                   tridiag_factor tridiag_pscheme symindef symindef_eig rng
                   tridiag_rcond tridiag_transposed smallsym_estimate pricing_bias cva_credit cva_greeks cva_reference
                   promises_tridiag promises_smallsym promises_recur promises_symindef)
else()
    set(tier_few_cases)
    set(tier_99 plain)
    set(tier_bench_flavours plain asan)
    set(tier_small)
endif()

# Left to `all`: statistics that need many draws, the program over an emulated GPU where that takes long, and the site,
# for which Sphinx is installed (the links of the documents themselves: test docs).
set(tier_all_only clang site rng_law rng_streams cli_price_plain cli_study_plain cli_sort_plain cli_rng_plain
                  cli_forms_plain cli_american_plain)

# FLAVOUR_cases_TEST: the cases of a test in a flavour, where all of them would take minutes: every kernel once.
# FLAVOUR_cases_quick_TEST: those of the quick tier, in which asan and tsan run only the tests that have such a list.
# A word with ! leaves cases out.
set(native_cases_quick_bench_symindef !peers_are !long_calls)
set(native_cases_quick_bench_smallsym !peers_)
set(native_cases_quick_bench_smallsym_gram !peers_form)
set(native_cases_quick_bench_tridiag !stops_between)
set(native_cases_quick_surrogate_ends !edges !faces !inside)
set(native_cases_quick_progress !several_threads)
set(plain_cases_quick_tridiag !at_all_sizes !disturb_nobody)
set(plain_cases_quick_graph wait)
set(plain_cases_quick_tridiag_rcond any_scale)
set(plain_cases_quick_tridiag_transposed !failures_stay)
set(plain_cases_quick_tridiag_verdict residual_status overflow)
set(plain_cases_quick_smallsym !at_all_sizes !answer_depends_on !outcomes_depend_on)
set(plain_cases_quick_smallsym_estimate !near_the_truth !failures_are !of_diagonal)
set(plain_cases_quick_smallsym_gram !several_parts)
set(plain_cases_quick_smallsym_verdict !disturb_nobody !of_zeros)
set(plain_cases_quick_cva_greeks !bumps !jumps !second_differences !bermudan !margin_periods) # the reverse pass runs on the CPU
set(plain_cases_quick_american_exact backends quantlib limits bounds)
set(plain_cases_quick_american_pde backends arguments)
set(plain_cases_quick_cva_dividends curves bermudan max_call_of bits)
set(plain_cases_quick_symindef stopped counters)
set(plain_cases_quick_symindef_blocked !panels_end)
set(plain_cases_quick_surrogate_cells !large_batches !predictions)

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
set(tsan_cases_recur _tiles no_first_values) # what blocks tell each other: chains of tiles,
set(tsan_cases_recur_verdict overflow)              # and tiles that are walked
set(tsan_cases_smallsym no_system_and_one groups_of_several teams_of_any_size)
set(tsan_cases_smallsym_verdict one_unknown)
set(tsan_cases_smallsym_estimate diagonal refined)
set(tsan_cases_symindef stopped counters) # a few hundred stages of each kind
set(tsan_cases_symindef_accuracy refinement inverses)
set(tsan_cases_symindef_forms g_j_gt)
set(tsan_cases_symindef_modify splits) # the one kernel of its own
set(tsan_cases_symindef_blocked left different_size) # stages, and panels of two blocks of threads
set(tsan_cases_symindef_eig one_pair failures)
set(tsan_cases_symindef_lapack singular) # refinement is in symindef_accuracy
set(tsan_cases_sort any_number strides different_lengths long_rows longer_rows total_order)
set(tsan_cases_pricing bits) # every kernel, few paths
set(tsan_cases_pricing_wide bump)
set(tsan_cases_pricing_bias american) # its kernels are those of the others
set(tsan_cases_expou bits)
set(tsan_cases_bullet bits)
set(tsan_cases_pde many)
set(tsan_cases_american bits many_functions)
set(tsan_cases_american_exact limits bounds)
set(tsan_cases_american_pde backends)
set(tsan_cases_cva bits)
set(tsan_cases_cva_american bits half many_assets)
set(tsan_cases_cva_asian bits)
set(tsan_cases_cva_credit bits)
set(tsan_cases_cva_dividends bits)
set(tsan_cases_cva_greeks bits)
set(tsan_cases_cva_heston bits)
set(tsan_cases_cva_market bits)
set(tsan_cases_cva_payoffs american)
set(tsan_cases_cva_xva bits)
set(tsan_cases_dataset bits)
set(tsan_cases_surrogate what_is_refused cannot_use)
set(tsan_cases_surrogate_cells few_rows)

set(asan_cases_quick_recur no_first_values in_place)
set(asan_cases_quick_band failures_disturb)
set(asan_cases_quick_tridiag a_long bad_right_hand_side)
set(asan_cases_quick_tridiag_long several_levels)
set(asan_cases_quick_tridiag_gspike blocks_of_any_size)
set(asan_cases_quick_tridiag_gspike_blocks sizes)
set(asan_cases_quick_tridiag_pscheme any_number)
set(asan_cases_quick_tridiag_rcond any_scale)
set(asan_cases_quick_tridiag_factor kept_factors)
set(asan_cases_quick_smallsym no_system_and_one teams_of_any_size)
set(asan_cases_quick_smallsym_estimate scales far_apart)
set(asan_cases_quick_smallsym_ldltp small_systems)
set(asan_cases_quick_smallsym_eig sizes_0_1_2 groups)
set(asan_cases_quick_smallsym_gram any_number)
set(asan_cases_quick_smallsym_auto groups_are_redone)
set(asan_cases_quick_smallsym_stages both_stages)
set(asan_cases_quick_smallsym_factor l_d_lt)
set(asan_cases_quick_symindef stopped)
set(asan_cases_quick_symindef_blocked different_size)
set(asan_cases_quick_symindef_eig one_pair failures)
set(asan_cases_quick_symindef_modify splits)
set(asan_cases_quick_symindef_forms g_j_gt_at)
set(asan_cases_quick_symindef_accuracy inverses refinement_says)
set(asan_cases_quick_sort any_number long_rows longer_rows)
set(asan_cases_quick_sort_merge figure_1 large_and every_kind)
set(asan_cases_quick_pricing bits)
set(asan_cases_quick_expou bits)
set(asan_cases_quick_bullet bits)
set(asan_cases_quick_pde many)
set(asan_cases_quick_american bits)
set(asan_cases_quick_american_exact limits bounds)
set(asan_cases_quick_american_pde backends)
set(asan_cases_quick_cva_american half inner_paths_of_a_date many_assets)
set(asan_cases_quick_cva_asian two_prices)
set(asan_cases_quick_cva_credit bits)
set(asan_cases_quick_cva_dividends curves max_call_of)
set(asan_cases_quick_cva_greeks bits nothing)
set(asan_cases_quick_cva_heston bits)
set(asan_cases_quick_cva_market bits)
set(asan_cases_quick_cva_payoffs closed basket nested_barriers)
set(asan_cases_quick_cva_xva bits)
set(asan_cases_quick_dataset bits)
set(asan_cases_quick_surrogate outside)
set(asan_cases_quick_surrogate_cells few_rows)
set(asan_cases_quick_rng fills)

# Chains of blocks that wait for each other; barriers of a block; warps; the grid; tiles of one block; shared memory
# that a warp or a block fills again.
set(tsan_cases_quick_recur several_tiles)
set(tsan_cases_quick_tridiag bad_right_hand_side)
set(tsan_cases_quick_smallsym no_system_and_one)
set(tsan_cases_quick_symindef stopped)
set(tsan_cases_quick_symindef_eig one_pair)
set(tsan_cases_quick_sort long_rows)
set(tsan_cases_quick_smallsym_eig overflow)
set(tsan_cases_quick_smallsym_gram bad_sample)
set(tsan_cases_quick_sort_merge figure_1)
set(tsan_cases_quick_american_exact limits)
set(tsan_cases_quick_american_pde backends)
set(tsan_cases_quick_dataset bits)
set(tsan_cases_quick_surrogate_cells few_rows)

# The .cu files that the race checker watches in the quick tier: those of the cases above. The other kernels, and in the
# quick tier everything that is not a kernel, are compiled without it.
set(tsan_kernels_quick ${SHOAL_ALGORITHMS} ${SHOAL_DOUBLE_ALGORITHMS} ${SHOAL_CUDA_ALGORITHMS}
                       ${SHOAL_PAPER_ALGORITHMS})
list(FILTER tsan_kernels_quick EXCLUDE REGEX "^(rng|models|cva)/|american/american")

# The bench over the emulated GPU. Of its tests, those that measure take long there, and are not what could
# go wrong; with sanitizers, the slowest kernels are left to the library's own tests.
set(bench_cases_recur verifies)
set(bench_cases_smallsym verifies data)
set(bench_cases_smallsym_gram verifies data)
set(bench_cases_sort verifies)
set(bench_cases_pricing verifies)
set(bench_cases_symindef verifies)
set(bench_cases_study_symindef study)
set(bench_cases_rng_asan law bits verifies peers)
set(bench_cases_study_symindef_asan given)
set(bench_cases_smallsym_cuda_asan data)
set(bench_cases_smallsym_gram_cuda_asan data)
set(bench_cases_symindef_cuda_asan failures)

# Sets `result` to the cases of a test in a flavour, empty for all, and `result`_runs to whether it runs at all.
function(tier_cases result name flavour)
    set(runs TRUE)
    set(cases ${${flavour}_cases_${name}})
    if(SHOAL_TIER STREQUAL "quick")
        if(DEFINED ${flavour}_cases_quick_${name})
            set(cases ${${flavour}_cases_quick_${name}})
        elseif(flavour IN_LIST tier_few_cases)
            set(runs FALSE)
        endif()
    endif()
    set(${result} ${cases} PARENT_SCOPE)
    set(${result}_runs ${runs} PARENT_SCOPE)
endfunction()

# Tests of the library on the CPU run with glibc's checks of the heap: what is written behind a block stops the program
# when the block is freed, and fresh memory is filled with 0x5a.
find_library(SHOAL_MALLOC_DEBUG NAMES libc_malloc_debug.so.0)
mark_as_advanced(SHOAL_MALLOC_DEBUG)
set(heap_checks)
if(SHOAL_MALLOC_DEBUG)
    set(heap_checks LD_PRELOAD=${SHOAL_MALLOC_DEBUG} MALLOC_CHECK_=3 MALLOC_PERTURB_=165)
endif()

# shoal_test(name label [ENVIRONMENT variable=value...] [COMMAND] program argument...): a test of the tier
function(shoal_test name label)
    cmake_parse_arguments(arg "" "" "ENVIRONMENT;COMMAND" ${ARGN})
    set(command ${arg_COMMAND} ${arg_UNPARSED_ARGUMENTS})
    if(SHOAL_TIER STREQUAL "quick" AND (label STREQUAL "slow" OR name IN_LIST tier_all_only))
        return()
    endif()
    if(label STREQUAL "native")
        list(APPEND arg_ENVIRONMENT ${heap_checks})
    endif()
    # OpenMP's threads sleep while they wait, and OpenBLAS has none: tests run side by side, and ThreadSanitizer would
    # report what those do to each other
    simt_add_test(${name} ${label} LABELS ${label} COMMAND ${command}
                  ENVIRONMENT OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 ${arg_ENVIRONMENT})
    if(label STREQUAL "slow")
        set_tests_properties(${name} PROPERTIES TIMEOUT 86400)
    endif()
endfunction()
