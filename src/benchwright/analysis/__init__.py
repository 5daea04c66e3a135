"""Computes all figures that are shown or exported, once, from the tables of runs. Also defines their record types."""
