mod evaluations;
mod selection;
mod semantic;
