/* SPDX-License-Identifier: Apache-2.0
 *
 * html.c - the frame of a page.
 */
#include "html.h"

#include <string.h>

#include "status.h"

enum { SORTED = 12 }; /* columns of a sorted table */

static const char css[] =
    ":root{--ink:#1c2530;--soft:#5b6875;--line:#dfe4ea;--page:#fbfcfd;--card:#ffffff;"
    "--mark:#0f6fb8;--good:#1b7f4d;--bad:#b3261e}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e9ee;--soft:#98a5b3;--line:#2c3640;"
    "--page:#12171c;--card:#1a2128;--mark:#6cb6f5;--good:#5fcf97;--bad:#ff8a80}}"
    "*{box-sizing:border-box}"
    "body{margin:0;background:var(--page);color:var(--ink);"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}"
    "main{max-width:1040px;margin:0 auto;padding:40px 24px 64px}"
    "h1{font-size:32px;line-height:1.2;margin:0 0 8px;letter-spacing:-.01em}"
    "h2{font-size:21px;margin:44px 0 12px}"
    ".lead{font-size:18px;color:var(--soft);max-width:46em;margin:0 0 24px}"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(170px,1fr));gap:14px}"
    ".card{background:var(--card);border:1px solid var(--line);border-radius:10px;"
    "padding:14px 16px}"
    ".card b{display:block;font-size:19px;line-height:1.3;font-weight:600;white-space:nowrap}"
    ".card span{color:var(--soft);font-size:14px}"
    ".wide{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:10px}"
    ".chart{padding:10px;margin:0 0 18px}"
    ".chart svg{display:block;margin:auto;max-width:100%;height:auto}"
    ".chart .shoal-chart .bg{fill:var(--card)}"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:14px}"
    ".charts .chart{margin:0}.charts svg{width:100%}"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:15px}"
    "th,td{padding:7px 14px;text-align:right;border-top:1px solid var(--line);white-space:nowrap}"
    "thead th{border-top:0;color:var(--soft);font-weight:600}"
    "th.l,td.l{text-align:left}td.best{font-weight:700;color:var(--mark)}"
    ".good{color:var(--good)}.bad{color:var(--bad);font-weight:600}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 20px;margin:0}"
    "dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}"
    "summary{cursor:pointer;color:var(--mark);margin:10px 0}"
    "details{margin:12px 0}details[open]>summary{margin-bottom:12px}"
    ".sorted>input{position:absolute;opacity:0;pointer-events:none}"
    ".sorted table{display:grid}.sorted thead,.sorted tbody,.sorted tr{display:contents}"
    ".sorted label{cursor:pointer;display:block}.sorted th:hover{color:var(--mark)}"
    ".sorted th,.sorted td{padding:6px 9px}"
    "code{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}"
    ".small{display:none}"
    "footer{margin-top:48px;color:var(--soft);font-size:14px}"
    "@media(max-width:600px){main{padding:20px 12px 40px}h1{font-size:26px}.lead{font-size:16px}"
    "h2{margin:30px 0 10px}th,td{padding:6px 8px}.chart{padding:2px}.big{display:none}"
    ".small{display:block}}"
    "@media print{:root{--page:#fff}main{max-width:none;padding:0}body{font-size:11px}"
    "h1{font-size:22px}h2{font-size:14px;margin:16px 0 6px;break-after:avoid}.lead{font-size:13px}"
    ".card,.chart{break-inside:avoid}.wide{overflow:visible}table{font-size:10px}"
    "th,td,.sorted th,.sorted td{padding:2px 5px}details,.screen{display:none}"
    ".card{padding:8px 10px}.card b{font-size:15px}.card span{font-size:10px;display:block}"
    ".cards{grid-template-columns:repeat(4,minmax(0,1fr));gap:8px}.chart svg{max-height:230px}"
    "dl{gap:1px 16px}footer{margin-top:12px;font-size:10px}}}";

void io_html_text(FILE *file, const char *text) {
    size_t left = strlen(text);
    while (left > 0) {
        int length = io_utf8_length(text, left);
        unsigned char c = (unsigned char)*text;
        const char *written = length == 0 || c < 0x20 || c == 0x7f ? "\xEF\xBF\xBD"
                              : c == '&'                           ? "&amp;"
                              : c == '<'                           ? "&lt;"
                              : c == '>'                           ? "&gt;"
                              : c == '"'                           ? "&quot;"
                                                                   : NULL;
        if (length == 0) length = 1;
        fwrite(written ? written : text, 1, written ? strlen(written) : (size_t)length, file);
        text += length;
        left -= (size_t)length;
    }
}

void io_html_begin(FILE *file, const char *title) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>",
          file);
    io_html_text(file, title);
    fprintf(file, "</title>\n<style>%s", css);
    for (int k = 0; k < SORTED;
         k++) /* a checked button orders the cells by the rank of their row */
        fprintf(
            file,
            ".k%d:checked~.wide td{order:var(--k%d)}.k%d:checked~.wide label.k%d{color:var(--mark)}",
            k, k, k, k);
    fputs("</style>\n</head>\n<body>\n<main>\n", file);
}

void io_html_end(FILE *file) { fputs("</main>\n</body>\n</html>\n", file); }

void io_html_card(FILE *file, const char *value, const char *label) {
    fputs("<div class=\"card\"><b>", file);
    io_html_text(file, value);
    fputs("</b><span>", file);
    io_html_text(file, label);
    fputs("</span></div>\n", file);
}

void io_html_fact(FILE *file, const char *name, const char *value) {
    if (!value || !*value) return;
    fputs("<dt>", file);
    io_html_text(file, name);
    fputs("</dt><dd>", file);
    io_html_text(file, value);
    fputs("</dd>\n", file);
}

char *io_html_count(int64_t value, char text[32]) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)value), used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-') text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = 0;
    return text;
}
