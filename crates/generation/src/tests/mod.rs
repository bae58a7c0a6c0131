mod choices;
