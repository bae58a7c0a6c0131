mod evaluations;
mod picker;
mod selection;
mod semantic;
