mod evaluations;
mod selection;
