import Papa from 'papaparse'
import { guardFormula, unguardFormula } from '../../shared/formula-guard.ts'
import { type Refusal, refusal } from '../../shared/refusals/refusal.ts'

/** Record of a CSV text. `line`: number of its first line, from 1. */
export interface CsvRecord {
  line: number
  cells: string[]
}

/** A CSV text is malformed. */
export class CsvError extends Error {
  override readonly name = 'CsvError'
  readonly line: number
  readonly refusal: Refusal
  constructor(line: number, refused: Refusal) {
    super(refused.message)
    this.line = line
    this.refusal = refused
  }
}

/** Maximum number of lines read, including empty ones. Limited because parsing blocks the controller. */
const maxLines = 100_000

/**
 * Parses CSV as defined in RFC 4180, with any line ending and an optional byte order mark; empty lines are skipped.
 * Strict: a stray or unclosed quote is an error.
 * @throws CsvError
 */
export function parseCsv(text: string): CsvRecord[] {
  const normal = withOneLineEnding(text.replace(/^\uFEFF/, ''))
  const records: CsvRecord[] = []
  let line = 1
  let lines = 0
  let start = 0
  Papa.parse<string[]>(normal, {
    delimiter: ',',
    newline: '\n',
    step({ data: cells, errors: [problem], meta: { cursor } }) {
      if (problem !== undefined) {
        const at = line + lineBreaks(normal.slice(start, problem.index ?? cursor))
        throw new CsvError(at, complaint(at, problem.code))
      }
      if (++lines > maxLines) throw new CsvError(line, refusal('tableLimit', { limit: maxLines }))
      const raw = normal.slice(start, cursor)
      refuseStrayQuotes(cells, raw, line)
      if (cells.length > 1 || cells[0] !== '') records.push({ line, cells: cells.map(unguardFormula) })
      line += lineBreaks(raw)
      start = cursor
    },
  })
  return records
}

/**
 * Formats CSV as defined in RFC 4180. A cell that a spreadsheet would run as a formula is prefixed with an apostrophe,
 * which `parseCsv` removes.
 */
export function formatCsv(rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const guardedRows = rows.map((row) => row.map(guardFormula))
  return `${Papa.unparse(guardedRows, { newline: '\r\n' })}\r\n`
}

/**
 * Replaces all line endings by `\n`, because the library supports only one line ending per text. Line breaks within
 * quotes belong to the cell and stay unchanged.
 */
function withOneLineEnding(text: string): string {
  if (!text.includes('\r')) return text
  return text.replace(/"[^"]*"|\r\n?/g, (piece) => (piece.startsWith('"') ? piece : '\n'))
}

function complaint(line: number, code: string): Refusal {
  return refusal(code === 'MissingQuotes' ? 'tableQuoteOpen' : 'tableQuoteAfter', { line })
}

/**
 * Rejects a quote within an unquoted cell. The library accepts such a quote, but it usually means that a quoted cell
 * starts at a wrong position. @throws CsvError
 */
function refuseStrayQuotes(cells: readonly string[], raw: string, line: number): void {
  let at = line
  for (const cell of cells) {
    if (cell.includes('"') && !raw.includes(`"${cell.replaceAll('"', '""')}"`)) {
      throw new CsvError(at, refusal('tableQuoteInside', { line: at }))
    }
    at += lineBreaks(cell)
  }
}

function lineBreaks(text: string): number {
  return text.match(/\r\n|\r|\n/g)?.length ?? 0
}
