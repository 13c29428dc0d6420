/* SPDX-License-Identifier: Apache-2.0
 *
 * stream.cpp - streams, events, launches, and the capture of a stream in a graph.
 *
 * Work given to a stream is done at once. While a stream captures, its work is recorded instead,
 * in the order it was given, and graph launches replay it; a stream that waits for an event
 * recorded in a capture joins it. What a capture may not contain (allocations, waiting for the
 * device, work in the legacy stream) fails and spoils every active capture, as on a real device.
 */
#include "runtime.h"

#include <time.h>
#include <set>

struct CUgraph_st {
    std::vector<std::function<void()>> nodes;
};

struct CUgraphExec_st {
    std::vector<std::function<void()>> nodes;
};

namespace simt {
struct Capture {
    cudaGraph_t graph;
    cudaStream_t origin;
    cudaStreamCaptureMode mode;
    bool blocks; /* the legacy stream waits for the one that is captured */
    bool spoilt;
};
} // namespace simt

using namespace simt;

namespace {

std::set<Capture *> captures;   /* active */
thread_local bool relaxed;      /* this thread's calls disturb no capture */
std::set<cudaStream_t> streams; /* created, not destroyed */
std::set<cudaEvent_t> events;

} // namespace

struct CUstream_st {
    unsigned flags;
    int device;          /* the current one when it was created */
    Capture *capture;    /* or null */
    uint64_t operations; /* captured */
    bool unjoined;       /* has captured work that its origin does not wait for */
};

struct CUevent_st {
    bool recorded;
    double seconds;
    Capture *capture; /* in which it was last recorded, or null */
    cudaStream_t stream;
    uint64_t operations; /* of the stream, then */
};

namespace {

bool is_legacy(cudaStream_t stream) {
    return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

bool is_known(cudaStream_t stream) { return is_legacy(stream) || streams.count(stream); }

Capture *capture_of(cudaStream_t stream) { return is_legacy(stream) ? nullptr : stream->capture; }

/* The captures that an operation of another stream must not disturb: of streams that the legacy stream waits for, or, of
 * a call that no capture may contain, those that are not relaxed. */
bool is_blocking(const Capture *capture) { return capture->blocks; }
bool is_strict(const Capture *capture) { return capture->mode != cudaStreamCaptureModeRelaxed; }
bool is_any(const Capture *) { return true; }

/* Spoils those, and tells whether there were any. */
bool spoil_all(bool (*which)(const Capture *) = is_any) {
    bool found = false;
    for (Capture *capture : captures)
        if (which(capture)) found = capture->spoilt = true;
    return found;
}

double now() {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A wait for one stream or the whole device. */
cudaError_t wait_for(cudaStream_t stream, bool device) {
    cudaError_t error = device_state();
    if (error) return error;
    if (!is_known(stream)) return cudaErrorInvalidResourceHandle;
    if (device || is_legacy(stream))
        return spoil_all(device ? is_any : is_blocking) ? cudaErrorStreamCaptureUnsupported
                                                        : cudaSuccess;
    if (!capture_of(stream)) return cudaSuccess;
    spoil_all();
    return cudaErrorStreamCaptureUnsupported;
}

} // namespace

namespace simt {

cudaError_t refuse_while_capturing() {
    return relaxed || !spoil_all(is_strict) ? cudaSuccess : cudaErrorStreamCaptureUnsupported;
}

cudaError_t in_legacy_stream(const std::function<void()> &operation) {
    if (spoil_all(is_blocking)) return cudaErrorStreamCaptureImplicit;
    operation();
    return cudaSuccess;
}

cudaError_t in_stream(cudaStream_t stream, const std::function<void()> &operation) {
    if (!is_known(stream)) return cudaErrorInvalidResourceHandle;
    if (is_legacy(stream)) return in_legacy_stream(operation);
    Capture *capture = capture_of(stream);
    if (!capture)
        operation();
    else if (capture->spoilt)
        return cudaErrorStreamCaptureInvalidated;
    else {
        capture->graph->nodes.push_back(operation);
        stream->operations++;
        stream->unjoined = true;
    }
    return cudaSuccess;
}

/* SIMT_SEEN is a file for the kernels that a sanitizer has watched in this process, a line each: file and kernel. */
static void note_seen(const Site &site) {
    static const char *path = getenv("SIMT_SEEN");
    static FILE *out = path && *path ? fopen(path, "w") : nullptr;
    static std::set<std::pair<std::string, std::string>> seen;
    if (!out || !site.watched || !seen.insert({ site.file, site.kernel }).second) return;
    fprintf(out, "%s %s\n", site.file, site.kernel);
    fflush(out);
}

cudaError_t submit(const Launch &launch, cudaStream_t stream) {
    Guard guard(runtime_lock); /* another host thread's kernel has ended */
    if (current) fail("a kernel cannot launch a kernel here (in %s)", kernel_name());
    cudaError_t error = device_state();
    if (!error) error = check_launch(launch);
    if (!error && streams.count(stream) && stream->device != current_device())
        error = cudaErrorInvalidResourceHandle; /* as the real runtime does */
    if (!error) note_seen(launch.site);
    if (!error) error = in_stream(stream, [launch] { run_grid(launch); });
    return remember(error);
}

} // namespace simt

cudaError_t cudaDeviceSynchronize() {
    Guard guard(runtime_lock);
    return remember(wait_for(nullptr, true));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (!error && !stream) error = cudaErrorInvalidValue;
    if (error) return remember(error);
    *stream = new CUstream_st{ flags, current_device(), nullptr, 0, false };
    streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (!error && !streams.count(stream)) error = cudaErrorInvalidResourceHandle;
    if (error) return remember(error);
    if (stream->capture) stream->capture->spoilt = true;
    streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    Guard guard(runtime_lock);
    return remember(wait_for(stream, false));
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    Guard guard(runtime_lock);
    return remember(wait_for(stream, false));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (!error && (!is_known(stream) || !events.count(event))) {
        error = cudaErrorInvalidResourceHandle;
    }
    if (error) return remember(error);
    if (!event->capture || !captures.count(event->capture)) return cudaSuccess;
    if (is_legacy(stream)) {
        spoil_all();
        return remember(cudaErrorStreamCaptureImplicit);
    }
    if (stream->capture && stream->capture != event->capture) {
        return remember(cudaErrorStreamCaptureMerge);
    }
    if (!stream->capture) stream->unjoined = true;
    stream->capture = event->capture;
    if (event->stream != stream && streams.count(event->stream) &&
        event->stream->operations == event->operations) {
        event->stream->unjoined = false;
    }
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (!error && !event) error = cudaErrorInvalidValue;
    if (error) return remember(error);
    *event = new CUevent_st{ false, 0, nullptr, nullptr, 0 };
    events.insert(*event);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (!error && !events.count(event)) error = cudaErrorInvalidResourceHandle;
    if (error) return remember(error);
    events.erase(event);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (!error && (!is_known(stream) || !events.count(event))) {
        error = cudaErrorInvalidResourceHandle;
    }
    if (error) return remember(error);
    event->capture = capture_of(stream);
    if (event->capture) {
        event->stream = stream;
        event->operations = stream->operations;
        return cudaSuccess;
    }
    return remember(in_stream(stream, [event] {
        event->recorded = true;
        event->seconds = now();
    }));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) { return cudaEventQuery(event); }

cudaError_t cudaEventQuery(cudaEvent_t event) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (!error && !events.count(event)) error = cudaErrorInvalidResourceHandle;
    if (!error && event->capture && captures.count(event->capture)) {
        spoil_all();
        error = cudaErrorCapturedEvent;
    }
    return remember(error);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (!error &&
        (!events.count(start) || !events.count(stop) || !start->recorded || !stop->recorded)) {
        error = cudaErrorInvalidResourceHandle;
    }
    if (error) return remember(error);
    *milliseconds = (float)(1e3 * (stop->seconds - start->seconds));
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (!error && is_legacy(stream)) error = cudaErrorStreamCaptureUnsupported;
    if (!error && !is_known(stream)) error = cudaErrorInvalidResourceHandle;
    if (!error && stream->capture) error = cudaErrorIllegalState;
    if (error) return remember(error);
    stream->capture = new Capture{ new CUgraph_st(), stream, mode,
                                   !(stream->flags & cudaStreamNonBlocking), false };
    captures.insert(stream->capture);
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (!error && (!is_known(stream) || !graph)) error = cudaErrorInvalidValue;
    if (!error && !capture_of(stream)) error = cudaErrorIllegalState;
    if (error) return remember(error);
    Capture *capture = stream->capture;
    if (capture->origin != stream) return remember(cudaErrorStreamCaptureUnmatched);
    if (capture->spoilt) error = cudaErrorStreamCaptureInvalidated;
    for (cudaStream_t other : streams) {
        if (other->capture != capture) continue;
        if (other != stream && other->unjoined && !error) error = cudaErrorStreamCaptureUnjoined;
        other->capture = nullptr;
    }
    for (cudaEvent_t event : events) {
        if (event->capture == capture) event->capture = nullptr;
    }
    *graph = error ? nullptr : capture->graph;
    if (error) delete capture->graph;
    captures.erase(capture);
    delete capture;
    return remember(error);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (!error && !is_known(stream)) error = cudaErrorInvalidResourceHandle;
    if (!error && is_legacy(stream))
        for (const Capture *capture : captures)
            if (is_blocking(capture)) error = cudaErrorStreamCaptureImplicit;
    if (error) return remember(error);
    Capture *capture = capture_of(stream);
    *status = !capture          ? cudaStreamCaptureStatusNone
              : capture->spoilt ? cudaStreamCaptureStatusInvalidated
                                : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
    if (!mode) return remember(cudaErrorInvalidValue);
    const bool was = relaxed;
    relaxed = *mode == cudaStreamCaptureModeRelaxed;
    *mode = was ? cudaStreamCaptureModeRelaxed : cudaStreamCaptureModeGlobal;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (!error && (!executable || !graph)) error = cudaErrorInvalidValue;
    if (!error) error = refuse_while_capturing(); /* it allocates */
    if (error) return remember(error);
    *executable = new CUgraphExec_st{ graph->nodes };
    return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, void *nodes, size_t *count) {
    if (!graph || nodes || !count) return remember(cudaErrorInvalidValue); /* counts only */
    *count = graph->nodes.size();
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
    Guard guard(runtime_lock);
    cudaError_t error = device_state();
    if (!error && !executable) error = cudaErrorInvalidValue;
    if (error) return remember(error);
    std::vector<std::function<void()>> nodes = executable->nodes;
    return remember(in_stream(stream, [nodes] {
        for (const std::function<void()> &node : nodes) node();
    }));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    delete executable;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    delete graph;
    return cudaSuccess;
}
