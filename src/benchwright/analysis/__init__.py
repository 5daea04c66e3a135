"""Every figure that is shown or exported, computed once from the tables of runs, with the records that hold it."""
