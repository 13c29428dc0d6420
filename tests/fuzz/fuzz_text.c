/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_text.c - libFuzzer target: any bytes as JSON and as CSV.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "io/csv.h"
#include "io/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    io_json_value *root;
    io_table table;
    io_error err;
    if (io_json_parse("fuzz", (const char *)bytes, size, &root, &err) == IO_OK) io_json_free(root);
    if (io_csv_parse("fuzz", (const char *)bytes, size, &table, &err) == IO_OK) {
        for (int64_t k = 0; k < table.rows * table.cols; k++)
            if (!(table.data[k] - table.data[k] == 0)) abort(); /* not finite */
        io_table_free(&table);
    }
    return 0;
}
