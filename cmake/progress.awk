# Prints a line for each tenth of a build by ninja, of what it prints with NINJA_STATUS='@%f %t '. A line @failed: it failed.
# -v quiet=1: of the rest nothing is printed.
/^ *@failed/ { failed = 1; next }
/^ *@[0-9]+ [0-9]+ / {
  sub(/^ *@/, "")
  tenth = int(10 * $1 / $2)
  if (tenth > shown) {
    printf "  %d%%\n", 10 * tenth
    fflush()
    shown = tenth
  }
  next
}
!quiet && !/^ninja: Entering/ { print }
END { exit failed }
