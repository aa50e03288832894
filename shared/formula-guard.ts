/**
 * Cell text that a spreadsheet interprets as a formula: at the start of the cell, or of a line in it, where a
 * line-based program would start a cell. Includes full-width signs (East Asian editions of Excel); apostrophes before
 * the sign are guards.
 */
const formula = /(?<=^|[\r\n\v\f\u0085\u2028\u2029])(?='*[=+\-@\t\r＝＋－＠])/g
const guard = /(?<=^|[\r\n\v\f\u0085\u2028\u2029])'(?='*[=+\-@\t\r＝＋－＠])/g

/** Prefixes formulas in a cell with apostrophes, so that a spreadsheet shows them as text (OWASP, CSV Injection). */
export function guardFormula(cell: string): string {
  return cell.replace(formula, "'")
}

/** Removes the apostrophes that `guardFormula` has added. */
export function unguardFormula(cell: string): string {
  return cell.replace(guard, '')
}
