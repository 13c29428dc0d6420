/* SPDX-License-Identifier: Apache-2.0
 *
 * completion.c - `shoal completion`: what a shell asks when Tab is pressed. The shells have a few lines each, which call
 * the program with the words of the line, each behind a '+'; the candidates come from the tables of options.
 */
#include "cli/common/cli.h"

#include <string.h>

#include "bench/module.h"
#include "cli/gen/gen.h"

/* clang-format off */
static const struct {
    const char *shell, *script;
} scripts[] = {
    { "bash",
      "_shoal() {\n"
      "    local line words=(\"${COMP_WORDS[@]:1:COMP_CWORD}\")\n"
      "    COMPREPLY=()\n"
      "    while IFS= read -r line; do\n"
      "        if [[ $line == :files ]]; then compopt -o default; else COMPREPLY+=(\"${line%%$'\\t'*}\"); fi\n"
      "    done < <(\"$1\" completion bash \"${words[@]/#/+}\" 2>/dev/null)\n"
      "    [[ ${COMPREPLY[0]} == *: ]] && compopt -o nospace\n"
      "    return 0\n"
      "}\n"
      "complete -F _shoal shoal\n" },
    { "zsh",
      "#compdef shoal\n"
      "_shoal() {\n"
      "    local line files\n"
      "    local -a candidates\n"
      "    shoal completion zsh \"${(@)words[2,CURRENT]/#/+}\" 2>/dev/null | while IFS= read -r line; do\n"
      "        if [[ $line == :files ]]; then files=1; else candidates+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\"); fi\n"
      "    done\n"
      "    (( ${#candidates} )) && _describe shoal candidates\n"
      "    [[ -n $files ]] && _files\n"
      "}\n"
      "if [[ $funcstack[1] == _shoal ]]; then _shoal \"$@\"; else compdef _shoal shoal; fi\n" },
    { "fish",
      "function __shoal_complete\n"
      "    set -l words (commandline -opc) (commandline -ct)\n"
      "    for line in (shoal completion fish +$words[2..-1] 2>/dev/null)\n"
      "        if test $line = :files\n"
      "            __fish_complete_path (commandline -ct)\n"
      "        else\n"
      "            echo $line\n"
      "        end\n"
      "    end\n"
      "end\n"
      "complete -c shoal -f -a '(__shoal_complete)'\n" },
};
/* clang-format on */

typedef struct arguments {
    int count;
    const char **word; /* from malloc: the shell, then the words so far */
} arguments;

/* What is completed: `typed` is the word so far; `before` stands in front of every candidate. */
typedef struct completing {
    const cli_command *k;
    const char *typed, *before;
    const char *first, *last; /* plain arguments before it */
    const char *method;       /* the value of --method     */
    int found;
} completing;

static void offer(completing *p, const char *word, int length, const char *help) {
    if (strncmp(word, p->typed, strlen(p->typed)) != 0 || (int)strlen(p->typed) > length) return;
    printf("%s%.*s\t%.*s\n", p->before, length, word, (int)strcspn(help, "\n\v"), help);
    p->found++;
}

static void offer_names(completing *p, io_names *names, const void *of, const char *end) {
    char word[64];
    const char *name;
    for (int i = 0; (name = names(of, i)); i++)
        offer(p, word, snprintf(word, sizeof word, "%s%s", name, end), "");
}

/* The modules of problems to verify and to measure. */
static const char *problem_name(const void *of, int i) {
    const char *name;
    (void)of;
    for (int k = 0; (name = shoal_modules(k)); k++)
        if (bench_module_of(name) && i-- == 0) break;
    return name;
}

/* "tridiag:", and "tridiag:pcr:" once the module is there. */
static void offer_problems(completing *p) {
    const size_t length = strcspn(p->typed, ":");
    char module[64], word[128];
    const char *name;
    if (!p->typed[length]) {
        offer_names(p, problem_name, NULL, ":");
        return;
    }
    snprintf(module, sizeof module, "%.*s", (int)length, p->typed);
    for (int i = 0; (name = shoal_methods(module, i)); i++)
        offer(p, word, snprintf(word, sizeof word, "%s:%s:", module, name), "");
}

static bool is_file(const cli_option *o) {
    static const char *const names[] = { "FILE", "DIR", "STEM", "PART", "K,X,J" };
    if (o->kind == OPT_INPUT || o->kind == OPT_OUTPUT || o->kind == OPT_MADE) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names && o->arg; i++)
        if (strcmp(o->arg, names[i]) == 0) return true;
    return false;
}

/* The module that the methods of a command belong to: that of its option, of `gen` its first argument, of a price its
 * name. */
static const char *module_of(const completing *p, const cli *c) {
    cli_row row;
    for (int i = 0; (row = cli_row_at(p->k, c, NULL, i)).option; i++)
        if (row.option->methods) return row.option->methods;
    return *p->first ? p->first : cli_last_word(p->k->name);
}

/* The variants of the method on the line, or of `gen` of the kind; without one, of every method. */
static void offer_variants(completing *p, const cli *c) {
    const char *module = module_of(p, c), *method, *variant;
    const char *one = module == p->first ? p->last : p->method;
    char of[64];
    for (int i = 0; (method = shoal_methods(module, i)); i++) {
        if (*one && strcmp(one, method) != 0) continue;
        snprintf(of, sizeof of, "of %s", method);
        for (int k = 0; (variant = shoal_variants(module, method, k)); k++)
            offer(p, variant, (int)strlen(variant), of);
    }
}

static bool is_named(const cli_option *o, const char *name) {
    return o->name && strcmp(o->name, name) == 0;
}

static void offer_values(completing *p, const cli *c, const cli_option *o) {
    const char *suggest = o->words ? o->words : o->suggest, *word;
    int length;
    if (!suggest && (o->methods || is_named(o, "method"))) { /* of a price, the command's */
        offer_names(p, cli_method_name, o->methods ? o->methods : cli_last_word(p->k->name), "");
    } else if (!suggest && is_named(o, "variant")) {
        offer_variants(p, c);
    } else if (suggest && strcmp(suggest, "@modules") == 0) {
        offer_names(p, cli_module_name, NULL, "");
    } else if (suggest && strcmp(suggest, "@kinds") == 0) {
        const cli_module *module = cli_module_find(p->last);
        if (module) offer_names(p, cli_kind_name, module, "");
    } else if (suggest && strcmp(suggest, "@problems") == 0) {
        offer_problems(p);
    }
    for (int i = 0; suggest && suggest[0] != '@' && (word = cli_option_word(suggest, i, &length));
         i++)
        offer(p, word, length, "");
    if (is_file(o)) p->found++, puts(":files");
}

static void offer_options(completing *p, const cli *c) {
    char name[CLI_NAME];
    cli_row row;
    for (int i = 0; (row = cli_row_at(p->k, c, NULL, i)).option; i++) {
        const cli_option *o = row.option;
        if (!o->help || (o->of && *p->first && !cli_among(o->of, p->first))) continue;
        if (o->name)
            offer(p, name, snprintf(name, sizeof name, "--%s", o->name), o->help);
        else if (o->letter)
            offer(p, name, snprintf(name, sizeof name, "-%c", o->letter), o->help);
    }
    offer(p, "--help", 6, "explain the command");
    offer(p, "--version", 9, "name the version");
}

/* Plain argument number `place` of a command, or the row of all of them. */
static const cli_option *plain_of(const cli *c, const cli_command *k, int place) {
    cli_row row;
    for (int i = 0; (row = cli_row_at(k, c, NULL, i)).option; i++) {
        const cli_option *o = row.option;
        if (o->name || o->letter || o->kind == OPT_HEADING) continue;
        if (o->kind == OPT_WORDS || place-- == 0) return o;
    }
    return NULL;
}

/* The candidates for the last of these words; those before it name command, options and their values. */
static void complete(const cli *c, const char **word, int count) {
    completing p = { &shoal_command, "", "", "", "", "", 0 };
    const char *equals;
    char before[CLI_NAME];
    int place = 0;
    if (count > 0) p.typed = word[count - 1];
    for (int i = 0; i < count - 1; i++) {
        const cli_option *o = cli_option_of(c, p.k, word[i], &equals);
        if (o && o->kind != OPT_FLAG && !equals) {
            if (i + 1 < count - 1 && strcmp(word[i + 1], "=") == 0) i++; /* bash splits there */
            if (++i == count - 1) {
                if (strcmp(p.typed, "=") == 0) p.typed = "";
                offer_values(&p, c, o);
                return;
            }
            if (is_named(o, "method")) p.method = word[i];
        } else if (o && equals && is_named(o, "method")) {
            p.method = equals;
        } else if (p.k == &shoal_command && strcmp(word[i], "help") == 0) {
            continue;
        } else if (word[i][0] != '-' && p.k->below) {
            p.k = cli_command_below(p.k, word[i]);
            if (!p.k) return;
        } else if (word[i][0] != '-') {
            p.last = word[i];
            if (place++ == 0) p.first = word[i];
        }
    }
    const cli_option *o = cli_option_of(c, p.k, p.typed, &equals);
    if (o && equals) { /* --type=f */
        snprintf(before, sizeof before, "--%s=", o->name ? o->name : "");
        p.before = before, p.typed = equals;
        offer_values(&p, c, o);
        return;
    }
    for (int i = 0; p.k->below && p.k->below[i]; i++) {
        const char *name = cli_last_word(p.k->below[i]->name);
        offer(&p, name, (int)strlen(name), p.k->below[i]->summary);
    }
    o = p.typed[0] != '-' && !p.k->below ? plain_of(c, p.k, place) : NULL;
    if (o) offer_values(&p, c, o);
    if (p.found == 0) offer_options(&p, c);
}

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
static const cli_option options[] = {
    { NULL, OPT_WORDS, AT(count), "SHELL", 0, "bash, zsh or fish", .suggest = "bash|zsh|fish", .needed = "bash, zsh or fish" },
    { 0 }
};
static const char doc[] =
    "Prints the completion script of a shell: commands, options, methods, kinds, files.\vWith words after the shell, each after a "
    "'+', it prints the candidates for the last one instead; `:files' stands for file names.\n\n"
    "Example:\n"
    "  source <(shoal completion bash)\n"
    "  shoal completion zsh >~/.zfunc/_shoal\n"
    "  shoal completion fish >~/.config/fish/completions/shoal.fish";
/* clang-format on */

static const char *shell_name(const void *of, int i) {
    (void)of;
    return i < (int)(sizeof scripts / sizeof *scripts) ? scripts[i].shell : NULL;
}

static int command(cli *c, int argc, char **argv) {
    const char *word[256] = { NULL };
    arguments a = { .word = word };
    if (argc > 256) return cli_fail(CLI_USAGE, "more than 255 words");
    int code = cli_parse(c, &completion_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    for (int i = 1; i < a.count; i++)
        if (*word[i]++ != '+')
            return cli_fail(CLI_USAGE, "completion: unexpected argument '%s'", word[i] - 1);
    const char *name;
    for (int i = 0; (name = shell_name(NULL, i)); i++) {
        if (strcmp(name, word[0]) != 0) continue;
        if (a.count == 1) fputs(scripts[i].script, stdout);
        if (a.count > 1) complete(c, word + 1, a.count - 1);
        return CLI_OK;
    }
    return cli_unknown(argv[0], "shell", word[0], shell_name, NULL);
}

const cli_command completion_command = { "completion",
                                         "print the completion script of a shell",
                                         .args = "bash|zsh|fish",
                                         .doc = doc,
                                         .run = command,
                                         .tables = { { options, 0 } } };
