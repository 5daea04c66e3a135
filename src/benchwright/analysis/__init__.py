"""All figures that are shown or exported: computed once from the tables of runs, with their record types."""
