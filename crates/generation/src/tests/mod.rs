mod answers;
mod checkpoint;
mod choices;
