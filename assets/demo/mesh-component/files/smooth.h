/* A moving average over the last readings of a sensor. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SMOOTH_MOST 32

typedef struct {
    int32_t readings[SMOOTH_MOST];
    size_t size;  /* readings that count, 1 to SMOOTH_MOST */
    size_t count; /* readings so far, at most size */
    size_t next;
    int64_t sum;
} smooth_t;

/* Begins with no reading; a size out of range becomes the nearest one within it. */
void smooth_init(smooth_t *smooth, size_t size);

/* Takes a reading and gives the average, rounded to the nearest number. */
int32_t smooth_add(smooth_t *smooth, int32_t reading);
