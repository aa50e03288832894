/** One record of a CSV text and the line it begins on (the first line is 1). */
export interface CsvRecord {
  line: number
  cells: string[]
}

/** A CSV text is malformed; the message is one plain sentence. */
export class CsvError extends Error {
  override readonly name = 'CsvError'
  readonly line: number
  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** What a spreadsheet takes for a formula when a cell begins with it; apostrophes before it are guards. */
const formula = /^'*[=+\-@\t\r]/
const guarded = /^'+[=+\-@\t\r]/

/**
 * Reads CSV as RFC 4180 has it, with any line ending and an optional byte order mark; empty lines are skipped. Strict: a stray or open quote is an error.
 * @throws CsvError
 */
export function parseCsv(text: string): CsvRecord[] {
  const records: CsvRecord[] = []
  let at = text.startsWith('\uFEFF') ? 1 : 0
  let line = 1
  let record: CsvRecord = { line, cells: [] }
  while (at < text.length) {
    const cell = text[at] === '"' ? readQuoted(text, at, line) : readPlain(text, at, line)
    record.cells.push(unguard(cell.value))
    at = cell.end
    line += cell.lines
    if (text[at] === ',') {
      at += 1
      // A comma at the very end opens one more, empty cell.
      if (at === text.length) record.cells.push('')
      else continue
    }
    if (text[at] === '\r' && text[at + 1] === '\n') at += 1
    at += 1
    line += 1
    if (record.cells.length > 1 || record.cells[0] !== '') records.push(record)
    record = { line, cells: [] }
  }
  if (record.cells.length > 0) records.push(record)
  return records
}

/** Writes CSV as RFC 4180 has it. A cell that a spreadsheet would run as a formula is guarded by an apostrophe, which `parseCsv` takes away again. */
export function formatCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(formatCell).join(',')}\r\n`).join('')
}

interface Cell {
  value: string
  /** Index of what follows it. */
  end: number
  /** Line breaks inside it. */
  lines: number
}

function readQuoted(text: string, start: number, line: number): Cell {
  let value = ''
  let at = start + 1
  for (;;) {
    const quote = text.indexOf('"', at)
    if (quote < 0) throw new CsvError(line, `Line ${line}: a quoted cell is not closed.`)
    value += text.slice(at, quote)
    at = quote + 1
    if (text[at] !== '"') break
    value += '"'
    at += 1
  }
  const next = text[at]
  if (next !== undefined && next !== ',' && next !== '\r' && next !== '\n') {
    throw new CsvError(line, `Line ${line}: after a quoted cell there must be a comma or the end of the line.`)
  }
  return { value, end: at, lines: value.match(/\r\n|\r|\n/g)?.length ?? 0 }
}

function readPlain(text: string, start: number, line: number): Cell {
  let end = start
  for (; end < text.length; end++) {
    const character = text[end]
    if (character === ',' || character === '\r' || character === '\n') break
    if (character === '"') {
      throw new CsvError(line, `Line ${line}: a cell with a quote in it must be in quotes, and the quote doubled.`)
    }
  }
  return { value: text.slice(start, end), end, lines: 0 }
}

function formatCell(value: string): string {
  const cell = formula.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(cell) || cell !== cell.trim() ? `"${cell.replaceAll('"', '""')}"` : cell
}

function unguard(value: string): string {
  return guarded.test(value) ? value.slice(1) : value
}
