//! The mechanism, tried on a made-up workspace in a temporary folder: what must leave every digest as it is, and what
//! must change exactly which.

mod code;
mod dependencies;
mod house;
mod new_family;
mod parts;
mod space;
