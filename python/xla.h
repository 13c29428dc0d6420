/* SPDX-License-Identifier: Apache-2.0
 *
 * xla.h - how XLA calls a function: the part of its C interface (version 0.x) that shoal._core reads. XLA keeps the order
 * of these members within version 0 and appends new ones, so that jaxlib is not needed to build the module. A struct
 * begins with its size and a list of extensions.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace xla {

constexpr int MAJOR = 0, MINOR = 1; /* the version of these structs */

struct Extension {
    size_t size;
    int kind; /* 1: XLA asks for the metadata of a handler */
    Extension *next;
};
struct Head {
    size_t size;
    Extension *extensions;
};
struct Version {
    Head head;
    int major, minor;
};
struct Metadata {
    size_t size;
    Version version;
    uint32_t traits;
};
struct MetadataExtension {
    Extension extension;
    Metadata *metadata;
};

struct Buffer {
    Head head;
    int type;
    void *data;
    int64_t rank;
    int64_t *dims;
};
struct Buffers {
    Head head;
    int64_t count;
    int *kinds;
    Buffer **buffers;
};

struct Span {
    const char *data;
    size_t size;
};
struct Scalar {
    int type;
    void *value;
};
struct Attributes { /* sorted by name */
    Head head;
    int64_t count;
    int *kinds;
    Span **names;
    void **values; /* of a text a Span, of a number a Scalar */
};

struct Error;
constexpr int INTERNAL = 13; /* the code of an error */
struct Execution;
struct ErrorArguments {
    Head head;
    const char *message;
    int code;
};
struct StreamArguments {
    Head head;
    Execution *execution;
    void *stream;
};
struct DeviceArguments {
    Head head;
    Execution *execution;
    int32_t device;
};
struct Api {
    Head head;
    Version version;
    const void *internal;
    Error *(*create_error)(ErrorArguments *);
    void *unused[3];
    Error *(*stream)(StreamArguments *);
    void *others[12];
    Error *(*device)(DeviceArguments *);
};
struct Frame { /* the arguments of a handler */
    Head head;
    const Api *api;
    Execution *execution;
    int stage;
    Buffers arguments, results;
    Attributes attributes;
};

} // namespace xla
