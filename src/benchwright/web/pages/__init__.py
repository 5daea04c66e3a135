"""The pages, a module each: what is asked, what is read for it, which template shows it."""
