// Virtual board: single bits by name.
#pragma once
#define BIT(nr) (1UL << (nr))
#define BIT64(nr) (1ULL << (nr))
#define BIT0 0x00000001
#define BIT1 0x00000002
#define BIT2 0x00000004
#define BIT3 0x00000008
#define BIT4 0x00000010
#define BIT5 0x00000020
#define BIT6 0x00000040
#define BIT7 0x00000080
