#include "task_list.h"

#include <string.h>

static bool has(const struct task_list *list, size_t number)
{
    return number >= 1 && number <= list->count;
}

bool task_list_add(struct task_list *list, const char *text)
{
    const size_t length = strlen(text);
    if (length == 0 || length >= TASK_BYTES || strchr(text, '\n') || list->count == TASKS_MOST) {
        return false;
    }
    struct task *task = &list->tasks[list->count++];
    memcpy(task->text, text, length + 1);
    task->is_done = false;
    return true;
}

bool task_list_done(struct task_list *list, size_t number)
{
    if (!has(list, number)) {
        return false;
    }
    list->tasks[number - 1].is_done = true;
    return true;
}

bool task_list_remove(struct task_list *list, size_t number)
{
    if (!has(list, number)) {
        return false;
    }
    struct task *gone = &list->tasks[number - 1];
    memmove(gone, gone + 1, (list->count - number) * sizeof *gone);
    list->count--;
    return true;
}
