/* SPDX-License-Identifier: Apache-2.0
 *
 * cube.c - `shoal cva --cube`: values [path][contract][date], written as the paths come, so that memory holds some paths
 * only.
 */
#include "cva.h"

#include <stdlib.h>

#include "io/file.h"
#include "io/hdf5.h"
#include "io/npy.h"

struct cva_cube {
    io_out *out;          /* .npy */
    io_h5_pieces *pieces; /* .h5: the dataset values */
    double *room;
    int64_t room_for, each; /* paths; numbers per path */
};

int cva_cube_open(const char *path, int64_t paths, int64_t contracts, int64_t dates,
                  cva_cube **cube) {
    const int64_t shape[] = { paths, contracts, dates };
    cva_cube *made = calloc(1, sizeof *made);
    io_error err;
    *cube = made;
    if (!made) return cli_no_memory();
    made->each = contracts * dates;
    if (cli_ends_in(path, ".h5"))
        return cli_io(io_h5_open_pieces(path, "values", 3, shape, &made->pieces, &err), &err);
    int status = io_out_open(path, &made->out, &err);
    if (status == IO_OK)
        status = io_npy_header(io_out_file(made->out), path, IO_F8, 3, shape, &err);
    return cli_io(status, &err);
}

double *cva_cube_room(cva_cube *cube, int64_t paths) {
    if (paths > cube->room_for) {
        free(cube->room);
        cube->room = malloc((size_t)(paths * cube->each + 1) * sizeof *cube->room);
        cube->room_for = cube->room ? paths : 0;
    }
    return cube->room;
}

int cva_cube_write(cva_cube *cube, int64_t first, int64_t paths) {
    io_error err;
    const size_t bytes = (size_t)(paths * cube->each) * sizeof *cube->room;
    return cli_io(cube->pieces ? io_h5_write_piece(cube->pieces, first, paths, cube->room, &err)
                               : io_write(io_out_file(cube->out), cube->room, bytes, &err),
                  &err);
}

int cva_cube_close(cva_cube *cube, bool good) {
    io_error err;
    int status = good ? IO_OK : IO_E_STOPPED;
    if (cube->pieces) status = io_h5_close_pieces(cube->pieces, status, &err);
    if (cube->out) status = io_out_end(cube->out, status, &err);
    free(cube->room);
    free(cube);
    return good ? cli_io(status, &err) : CLI_OK;
}
