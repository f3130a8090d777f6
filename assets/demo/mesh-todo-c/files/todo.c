/* A to-do list for the command line: todo add TEXT | list | done NUMBER | remove NUMBER */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "task_file.h"

static const char *PATH = "todo.txt";

static int usage(void)
{
    fputs("use: todo add TEXT | list | done NUMBER | remove NUMBER\n", stderr);
    return 2;
}

static int failed(const char *why)
{
    fprintf(stderr, "todo: %s\n", why);
    return 1;
}

static void print(const struct task_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct task *task = &list->tasks[i];
        printf("%zu. [%s] %s\n", i + 1, task->is_done ? "x" : " ", task->text);
    }
}

int main(int count, char **words)
{
    static struct task_list list;
    const char *what = count > 1 ? words[1] : "";
    if (!task_file_load(&list, PATH)) {
        return failed("todo.txt cannot be read");
    }
    if (strcmp(what, "list") == 0 && count == 2) {
        print(&list);
        return 0;
    }
    if (count != 3) {
        return usage();
    }
    const size_t number = strtoul(words[2], NULL, 10);
    if (strcmp(what, "add") == 0) {
        if (!task_list_add(&list, words[2])) {
            return failed("the text is empty or too long, or the list is full");
        }
    } else if (strcmp(what, "done") == 0) {
        if (!task_list_done(&list, number)) {
            return failed("there is no task of that number");
        }
    } else if (strcmp(what, "remove") == 0) {
        if (!task_list_remove(&list, number)) {
            return failed("there is no task of that number");
        }
    } else {
        return usage();
    }
    return task_file_save(&list, PATH) ? 0 : failed("todo.txt cannot be written");
}
