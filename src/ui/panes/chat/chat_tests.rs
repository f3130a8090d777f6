//! Tests of the chat.
