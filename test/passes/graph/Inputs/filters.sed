# Rows of f32 for letters in the constants of recognize-spectrum.mlir. A window that is 1 at step 16 of 64 alone leaves 1, 0, -1, 0 of the
# cosines in turn, and 0, 1, 0, -1 of the sines: P, Z, M, Z and Z, P, Z, M. I: 1 at the first of 62 steps; J: of 32.
/dense<"0x/ {
  s/P/RRRR0000803FRRRRRRRRRRRQQQ/g
  s/M/RRRR000080BFRRRRRRRRRRRQQQ/g
  s/Z/RRRRRRRRRRRRRRRR/g
  s/I/0000803FRRRRRRRRRRRRRRRQ/g
  s/J/0000803FRRRRRRRQQQ/g
  s/R/QQQQ/g
  s/Q/00000000/g
}
