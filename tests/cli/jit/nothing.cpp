// A program that loads nothing.
int main() { return 0; }
