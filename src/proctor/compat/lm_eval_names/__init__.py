"""lm-eval's Python interface: programs that call it are run by Proctor."""
