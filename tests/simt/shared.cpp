/* SPDX-License-Identifier: Apache-2.0
 *
 * shared.cpp - the shared memory of a block: the dynamic area first, then each static array when
 * the first thread of the block reaches its declaration.
 *
 * Everything is filled with 0xff bytes (SIMT_FRESH) when it comes into use, so that an element read before it
 * was written is a NaN. A gap follows each piece: AddressSanitizer reports an access to it at its
 * line; without AddressSanitizer the gap is checked when the block ends.
 */
#include "engine.h"

#if SIMT_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace simt {
namespace {

const size_t gap_bytes = 128; /* also the alignment of each piece */
size_t capacity() { return shared_optin() + shared_default + (64 << 10); }
const size_t max_arrays = 256;
#if !SIMT_ASAN
const unsigned char gap_byte = 0xa5;
#endif

size_t round_up(size_t bytes) { return (bytes + gap_bytes - 1) / gap_bytes * gap_bytes; }

/* Not memset: ThreadSanitizer watches that, and would take the filling for a kernel's write. */
void fill(unsigned char *p, size_t bytes, unsigned char value) {
    uint64_t word;
    memset(&word, value, sizeof word);
    for (; bytes >= sizeof word; bytes -= sizeof word, p += sizeof word) {
        *(volatile uint64_t *)p = word;
    }
    for (; bytes; bytes--) *(volatile unsigned char *)p++ = value;
}

/* Opens `bytes` at the end of what is in use; the rest of the piece is gap. */
unsigned char *open_piece(Block *block, size_t bytes) {
    unsigned char *piece = block->memory + block->used_bytes;
    block->used_bytes += round_up(bytes) + gap_bytes;
    if (block->used_bytes > capacity() || block->arrays.size() > max_arrays) {
        fail("too many shared arrays in %s", kernel_name());
    }
#if SIMT_ASAN
    __asan_unpoison_memory_region(piece, bytes);
#else
    fill(piece + bytes, (size_t)(block->memory + block->used_bytes - (piece + bytes)), gap_byte);
#endif
    fill(piece, bytes, fresh_byte());
    return piece;
}

#if !SIMT_ASAN
void check_gap(Block *block, size_t begin, size_t end, const char *after) {
    for (size_t i = begin; i < end; i++) {
        if (block->memory[i] != gap_byte) {
            fail("block (%u,%u,%u) of kernel %s wrote past the end of %s, %zu bytes after it",
                 block->index.x, block->index.y, block->index.z, kernel_name(), after, i - begin);
        }
    }
}
#endif

} // namespace

void shared_begin_block(Block *block, size_t dynamic_bytes) {
    if (!block->memory) {
        block->memory =
            static_cast<unsigned char *>(aligned_alloc(gap_bytes, round_up(capacity())));
        if (!block->memory) fail("no memory for shared memory");
    }
#if SIMT_ASAN
    __asan_poison_memory_region(block->memory, capacity());
#endif
    block->dynamic_bytes = dynamic_bytes;
    block->used_bytes = block->static_bytes = 0;
    block->arrays.clear();
    block->arrays.reserve(max_arrays + 1); /* threads must not make it grow: see engine.h */
    open_piece(block, dynamic_bytes);
}

void shared_end_block(Block *block) {
#if SIMT_ASAN
    __asan_unpoison_memory_region(block->memory, capacity());
#else
    check_gap(block, block->dynamic_bytes, round_up(block->dynamic_bytes) + gap_bytes,
              "its dynamic shared memory");
    for (const SharedArray &array : block->arrays) {
        size_t end = array.offset + array.bytes;
        check_gap(block, end, array.offset + round_up(array.bytes) + gap_bytes, array.name);
    }
#endif
}

void *dynamic_shared() { return calling_thread("SHOAL_SHARED")->block->memory; }

void *static_shared(const void *tag, const char *name, size_t bytes, size_t align, Where where) {
    Block *block = calling_thread("SHOAL_SHARED_ARRAY")->block;
    for (const SharedArray &array : block->arrays) {
        if (array.tag == tag) return block->memory + array.offset;
    }
    if (align > gap_bytes) fail_in_thread(where, "alignment of shared array %s", name);
    block->static_bytes += bytes;
    if (block->static_bytes > shared_default) {
        fail_in_thread(where, "%zu bytes of static shared memory, over the limit of %zu",
                       block->static_bytes, shared_default);
    }
    if (block->static_bytes + block->dynamic_bytes > shared_optin()) {
        fail_in_thread(where, "%zu bytes of static and %zu of dynamic shared memory, over %zu",
                       block->static_bytes, block->dynamic_bytes, shared_optin());
    }
    SharedArray array = { tag, name, block->used_bytes, bytes };
    block->arrays.push_back(array);
    return open_piece(block, bytes);
}

} // namespace simt
