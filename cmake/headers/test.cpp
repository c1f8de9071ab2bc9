// Nothing: this program exists for the headers that are compiled with it.
int main() { return 0; }
