//! The recorded demo, played without a screen: all the ways a person can take through it.

mod branches;
mod contract;
mod decisions;
mod learned;
mod mesh;
mod questions;
mod side_by_side;
mod stage;
mod teams;
mod tested;
mod whole;
mod wired;
mod workbench;
