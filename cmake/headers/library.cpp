// Nothing: this source exists for the headers that are compiled with it.
