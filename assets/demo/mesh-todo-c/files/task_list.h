/* A list of tasks. Tasks are counted from 1, as they are shown. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define TASKS_MOST 200
#define TASK_BYTES 120

struct task {
    char text[TASK_BYTES];
    bool is_done;
};

struct task_list {
    struct task tasks[TASKS_MOST];
    size_t count;
};

/* Adds a task; false when the text is empty or too long, or the list is full. */
bool task_list_add(struct task_list *list, const char *text);

/* Marks a task as done; false when there is no such number. */
bool task_list_done(struct task_list *list, size_t number);

/* Removes a task; false when there is no such number. */
bool task_list_remove(struct task_list *list, size_t number);
