"""The commands, one a module: parse options, call one function, print what it returns."""
