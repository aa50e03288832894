/**
 * Text of a cell that a spreadsheet takes for a formula: at the beginning of the cell, or of a line within it, where a program that reads lines first would begin a cell.
 * Full-width signs count (East Asian editions of Excel); apostrophes before the sign are guards.
 */
const formula = /(?<=^|[\r\n\v\f\u0085\u2028\u2029])(?='*[=+\-@\t\r＝＋－＠])/g
const guard = /(?<=^|[\r\n\v\f\u0085\u2028\u2029])'(?='*[=+\-@\t\r＝＋－＠])/g

/** Guards a cell by apostrophes, so that a spreadsheet shows it as text (OWASP, CSV Injection). */
export function guardFormula(cell: string): string {
  return cell.replace(formula, "'")
}

/** The cell before it was guarded. */
export function unguardFormula(cell: string): string {
  return cell.replace(guard, '')
}
