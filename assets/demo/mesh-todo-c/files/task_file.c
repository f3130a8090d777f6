#include "task_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool task_file_load(struct task_list *list, const char *path)
{
    list->count = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        return errno == ENOENT;
    }
    char line[TASK_BYTES + 4];
    bool is_good = true;
    while (is_good && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        const bool is_done = strncmp(line, "x ", 2) == 0;
        is_good = (is_done || strncmp(line, "- ", 2) == 0) && task_list_add(list, line + 2);
        if (is_good) {
            list->tasks[list->count - 1].is_done = is_done;
        }
    }
    is_good = is_good && !ferror(file);
    fclose(file);
    return is_good;
}

bool task_file_save(const struct task_list *list, const char *path)
{
    char beside[4096];
    if (snprintf(beside, sizeof beside, "%s.new", path) >= (int)sizeof beside) {
        return false;
    }
    FILE *file = fopen(beside, "w");
    if (!file) {
        return false;
    }
    for (size_t i = 0; i < list->count; i++) {
        fprintf(file, "%s %s\n", list->tasks[i].is_done ? "x" : "-", list->tasks[i].text);
    }
    const bool is_written = !ferror(file);
    if (fclose(file) != 0 || !is_written) {
        remove(beside);
        return false;
    }
    return rename(beside, path) == 0;
}
