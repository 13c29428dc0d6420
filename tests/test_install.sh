#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# test_install.sh SOURCE_DIR BUILD_DIR - the installed library, as a stranger meets it.
#
# Installs into a temporary prefix, moves the whole tree elsewhere, and from there builds a small
# program outside the source tree in four ways: pkg-config and find_package, shared and static. Then
# looks at the shared library itself: soname, exported symbols. Prints one line a check.
set -euo pipefail
source_dir=$(cd "$1" && pwd)
build_dir=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset DESTDIR PKG_CONFIG_PATH LD_LIBRARY_PATH CMAKE_PREFIX_PATH
cc=${CC:-cc}
checks=0

ok() {
    checks=$((checks + 1))
    echo "ok $checks - $*"
}
skip() { echo "skip - $*"; }
fail() {
    echo "FAILED: $*"
    exit 1
}

cmake --install "$build_dir" --prefix "$work/first" >"$work/install.log" || fail "cmake --install"
mv "$work/first" "$work/moved"
prefix=$work/moved
version=$(sed -n 's/.*SHOAL_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' "$source_dir/include/shoal/core.h" | paste -sd.)
lib=$(dirname "$(find "$prefix" -name libshoal.a)")
shared=$lib/libshoal.so.$version
for file in "$prefix/include/shoal/shoal.h" "$shared" "$lib/libshoal.so" "$lib/pkgconfig/shoal.pc" \
    "$lib/cmake/shoal/shoalConfig.cmake" "$prefix/bin/shoal"; do
    [ -e "$file" ] || fail "not installed: ${file#"$prefix"/}"
done
ok "headers, libraries, package files and program are installed"

pages=$prefix/share/man/man1
if [ -e "$pages/shoal.1" ]; then
    "$prefix/bin/shoal" --help | awk '/^ Global options/ { exit } /^  [a-z][a-z-]* / { print $1 }' |
        while read -r command; do
            [ -s "$pages/shoal-$command.1" ] || fail "no manual page of shoal $command"
            "$prefix/bin/shoal" "$command" --help | grep -o '^ *\(-., \)\?--[a-z-]*' | sed 's/.*--/--/' | while read -r option; do
                grep -qF -e "${option//-/\\-}" "$pages/shoal-$command.1" ||
                    fail "the manual page of shoal $command has no $option"
            done || exit 1
        done || exit 1
    ok "each command has its manual page, with each option"
    for file in bash-completion/completions/shoal zsh/site-functions/_shoal fish/vendor_completions.d/shoal.fish; do
        [ -s "$prefix/share/$file" ] || fail "not installed: share/$file"
    done
    if command -v groff >/dev/null; then
        for page in "$pages"/*.1; do
            said=$(groff -man -ww -Tascii "$page" 2>&1 >/dev/null) || true
            [ -z "$said" ] || fail "groff says of $(basename "$page"): $said"
        done
        ok "groff has nothing to say about them"
    else
        skip "groff is not installed"
    fi
else
    skip "no manual pages: no awk when it was built"
fi
for file in doc/shoal/examples/book.csv doc/shoal/examples/tridiag.c \
    doc/shoal/README.md doc/shoal/docs/index.md doc/shoal/docs/api.md doc/shoal/docs/img/tridiag-nvidia-h200-cuda-f64-system.svg; do
    [ -e "$prefix/share/$file" ] || fail "not installed: share/$file"
done
[ ! -e "$prefix/share/doc/shoal/docs/api.sh" ] || fail "a script of docs/ is installed"
ok "completion, examples and documents are installed"
dead=$(cd "$prefix/share/doc/shoal" && grep -o ']([^)#:]*[)#]' README.md docs/*.md | sed 's/[)#]$//' |
    while IFS= read -r link; do
        page=${link%%:*} target=${link#*](}
        [ -z "$target" ] || [ -e "$(dirname "$page")/$target" ] || echo "$page: $target"
    done)
[ -z "$dead" ] || fail "links of installed documents lead nowhere: $dead"
for page in README.md docs/tridiag.md; do # as long as they were, but for the links
    [ "$(wc -l <"$prefix/share/doc/shoal/$page")" -eq "$(wc -l <"$source_dir/$page")" ] || fail "lines of $page are lost"
done
ok "links of the installed documents lead somewhere"

mentions=$(grep -rlF -e "$build_dir" -e "$work/first" "$prefix/include" "$lib/pkgconfig" "$lib/cmake" || true)
[ -z "$mentions" ] || fail "these files name the build or install directory: $mentions"
ok "no package file names the place it was built in"

mkdir "$work/user"
cat >"$work/user/main.c" <<'END'
#include <shoal/shoal.h>
#include <stdio.h>
int main(void) {
    double dl[] = { 0, 1, 1 }, d[] = { 4, 4, 4 }, du[] = { 1, 1, 0 }, b[] = { 6, 12, 14 }; /* x = 1 2 3 */
    shoal_context *ctx = NULL;
    shoal_tridiag *plan = NULL;
    shoal_open(&(shoal_options){ .backend = "cpu" }, &ctx);
    shoal_tridiag_create(ctx, &(shoal_tridiag_opts){ .n = 3, .count = 1, .nrhs = 1 }, &plan);
    shoal_status status = shoal_tridiag_solve(plan, dl, d, du, b, b);
    printf("%s %.6f %.6f %.6f %s\n", shoal_version(), b[0], b[1], b[2], shoal_message(ctx));
    return status;
}
END
expected="$version 1.000000 2.000000 3.000000 "
check() { # check PROGRAM WHAT
    local answer
    answer=$("$1") || fail "$2: exit status $?"
    [ "$answer" = "$expected" ] || fail "$2: '$answer' instead of '$expected'"
    ok "$2"
}
uses_shared() { readelf -d "$1" | grep -q 'NEEDED.*libshoal'; }

# A tree with the archive alone, so that -lshoal can only mean the archive.
cp -a "$prefix" "$work/archive-only"
find "$work/archive-only" -name 'libshoal.so*' -delete

if command -v pkg-config >/dev/null; then
    flags() { PKG_CONFIG_PATH=$1/${lib#"$prefix"/}/pkgconfig pkg-config "${@:2}" shoal; }
    [ "$(flags "$prefix" --modversion)" = "$version" ] || fail "pkg-config --modversion"
    # shellcheck disable=SC2046 # flags are words
    $cc "$work/user/main.c" -o "$work/pc-shared" $(flags "$prefix" --cflags --libs) \
        -Wl,-rpath,"$lib" || fail "pkg-config, shared: does not link"
    uses_shared "$work/pc-shared" || fail "pkg-config, shared: libshoal.so is not used"
    check "$work/pc-shared" "pkg-config, shared"
    # shellcheck disable=SC2046
    $cc "$work/user/main.c" -o "$work/pc-static" $(flags "$work/archive-only" --static --cflags --libs) ||
        fail "pkg-config, static: does not link"
    ! uses_shared "$work/pc-static" || fail "pkg-config, static: libshoal.so is used"
    check "$work/pc-static" "pkg-config, static"
    for example in "$source_dir"/examples/*.c; do
        name=$(basename "$example" .c)
        # shellcheck disable=SC2046
        $cc -Wall -Wextra -Werror "$example" -o "$work/$name" $(flags "$prefix" --cflags --libs) \
            -Wl,-rpath,"$lib" || fail "examples/$name.c does not build"
        "$work/$name" >/dev/null || fail "examples/$name.c: exit status $?"
    done
    ok "the examples build and run"
else
    skip "pkg-config is not installed"
fi

cat >"$work/user/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.18)
project(user LANGUAGES C)
find_package(shoal ${version%.*} REQUIRED)
foreach(kind shoal shoal_static)
    add_executable(with_\${kind} main.c)
    target_link_libraries(with_\${kind} PRIVATE shoal::\${kind})
endforeach()
END
if ! { cmake -S "$work/user" -B "$work/user-build" -DCMAKE_PREFIX_PATH="$prefix" &&
    cmake --build "$work/user-build"; } >"$work/user.log" 2>&1; then
    cat "$work/user.log"
    fail "find_package: does not build"
fi
uses_shared "$work/user-build/with_shoal" || fail "find_package, shared: libshoal.so is not used"
! uses_shared "$work/user-build/with_shoal_static" || fail "find_package, static: libshoal.so is used"
check "$work/user-build/with_shoal" "find_package, shared"
check "$work/user-build/with_shoal_static" "find_package, static"

# A CUDA toolkit that lies elsewhere than where this was built, as after the installation of a package.
if grep -q '^set(shoal_CUDA TRUE)' "$lib/cmake/shoal/shoalConfig.cmake"; then
    cp -a "$prefix" "$work/elsewhere"
    there=$work/elsewhere/${lib#"$prefix"/}
    cuda=$(sed -n 's/^cudadir=//p' "$lib/pkgconfig/shoal.pc")
    sed -i "s|$cuda|/nowhere|" "$there/pkgconfig/shoal.pc" "$there/cmake/shoal/shoalConfig.cmake"
    if ! { cmake -S "$work/user" -B "$work/elsewhere-build" -DCMAKE_PREFIX_PATH="$work/elsewhere" -DCUDAToolkit_ROOT="${cuda%/lib*}" &&
        cmake --build "$work/elsewhere-build"; } >"$work/elsewhere.log" 2>&1; then
        cat "$work/elsewhere.log"
        fail "find_package, CUDA elsewhere: does not build"
    fi
    check "$work/elsewhere-build/with_shoal_static" "find_package, static, CUDA elsewhere"
    if command -v pkg-config >/dev/null; then
        PKG_CONFIG_PATH=$there/pkgconfig pkg-config --static --libs --define-variable=cudadir="$cuda" shoal |
            grep -qF -e "-L$cuda -lcudart_static" || fail "pkg-config: cudadir does not say where CUDA is"
        ok "pkg-config's cudadir"
    fi
fi

soname=$(readelf -d "$shared" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ "$soname" = "libshoal.so.${version%.*}" ] || fail "soname is '$soname'"
ok "soname $soname"

nm -D --defined-only "$shared" | awk '{ print $3 }' | sort >"$work/exported"
sed -n '/^SHOAL_API/s/^SHOAL_API[^(]*\(shoal_[a-z0-9_]*\)(.*/\1/p' "$prefix"/include/shoal/*.h | sort >"$work/declared"
[ -s "$work/declared" ] || fail "no SHOAL_API function found in the headers"
cmp -s "$work/exported" "$work/declared" ||
    { diff "$work/declared" "$work/exported"; fail "declared (<) and exported (>) symbols differ"; }
ok "libshoal.so exports the $(wc -l <"$work/declared") functions of its headers and nothing else"

if command -v c++ >/dev/null; then
    echo '#include <shoal/shoal.h>' | c++ -std=c++11 -Wall -Wextra -Werror -I "$prefix/include" -x c++ \
        -fsyntax-only - || fail "the headers do not compile as C++"
    ok "the headers compile as C++"
fi

[ "$("$prefix/bin/shoal" --version | grep -oF "$version" | head -n 1)" = "$version" ] || fail "bin/shoal --version"
"$prefix/bin/shoal" --backend cpu info >/dev/null || fail "bin/shoal info"
ok "the installed program runs"
echo "passed: $checks checks"
