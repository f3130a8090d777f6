//! The sandbox around what agents wrote, from outside: real programs that really try.

mod bench;
mod place;
