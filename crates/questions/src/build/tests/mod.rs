mod evaluations;
mod picker;
mod selection;
