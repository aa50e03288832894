import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CsvError, formatCsv, parseCsv } from '../../../server/devices/csv.ts'

const cellsOf = (text: string) => parseCsv(text).map((record) => record.cells)

test('a table is read with any line ending, a byte order mark and empty lines', () => {
  expect(cellsOf('\uFEFFa,b\r\n\r\nc,d\ne,\rf,g')).toEqual([
    ['a', 'b'],
    ['c', 'd'],
    ['e', ''],
    ['f', 'g'],
  ])
})

test('quoted cells hold commas, quotes and line breaks, and line numbers include them', () => {
  const records = parseCsv('a,"b, ""x""\r\nsecond"\r\nc,d\r\n')
  expect(records).toEqual([
    { line: 1, cells: ['a', 'b, "x"\r\nsecond'] },
    { line: 3, cells: ['c', 'd'] },
  ])
})

test.each([
  ['a,"b', 'Line 1: a quoted cell is not closed.'],
  ['a\nb,c"d', 'Line 2: a cell with a quote in it'],
  ['"a"b', 'Line 1: after a quoted cell'],
])('%j is refused with its line', (text, message) => {
  expect(() => parseCsv(text)).toThrow(CsvError)
  expect(() => parseCsv(text)).toThrow(message)
})

test('a text of line breaks only is not read to its end', () => {
  expect(() => parseCsv('\n'.repeat(1_000_000))).toThrow('The table has more than 100000 lines.')
})

test('an exported table contains no formula for a spreadsheet', () => {
  const text = formatCsv([['=cmd|calc', '+1', '-1', '@x', '\ty', 'plain', "'=z"]])
  expect(text).toBe(`'=cmd|calc,'+1,'-1,'@x,'\ty,plain,''=z\r\n`)
})

test('a line break at the start of a cell is guarded, and so is the sign after it', () => {
  const rows = [["\r'+", '\r=1', "\r\r'-"]]
  expect(parseCsv(formatCsv(rows)).map(({ cells }) => cells)).toEqual(rows)
})

test('an exported table reads back unchanged', () => {
  const cell = fc.string({ unit: fc.constantFrom(...'a,"\'=+-@\t\r\n 密'), maxLength: 8 })
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), { maxLength: 5 }), (rows) => {
      expect(cellsOf(formatCsv(rows))).toEqual(rows)
    }),
    { numRuns: 2_000 },
  )
})
