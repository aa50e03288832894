import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ConsoleKey } from '../../../server/console/console-key.ts'

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'roomdesk-key-'))
  onTestFinished(() => rmSync(made, { recursive: true }))
  return made
}

let touched = 1_700_000_000
/** Writes the file like an editor, a second later each time. */
function write(key: ConsoleKey, text: string): void {
  writeFileSync(key.file, text)
  touched += 1
  utimesSync(key.file, touched, touched)
}

const own = 'by-hand-'.repeat(4)

/** Damage by a partial write, an editor or a broken disk. */
const unusable: [string, (key: string) => string][] = [
  ['the key cut to 16 characters', (key) => `${key.slice(0, 16)}\n`],
  ['the key cut to 31 characters', (key) => key.slice(0, 31)],
  ['nothing', () => ''],
  ['a line feed', () => '\n'],
  ['zeros', () => '\0'.repeat(44)],
  ['two lines', (key) => `${key}\n${key}\n`],
  ['a space in the middle', (key) => `${key.slice(0, 20)} ${key.slice(20)}\n`],
  ['characters that headers forbid', () => '钥匙'.repeat(20)],
  ['far too much text', () => 'a'.repeat(5_000)],
]

test.each(unusable)(
  'While the controller runs, %s in the file is refused with a log line, and the key stays',
  (_what, damage) => {
    const lines: string[] = []
    const key = new ConsoleKey(folder(), (line) => lines.push(line))
    const right = key.value
    const { cookie } = key.openSession()
    const damaged = damage(right)
    write(key, damaged)
    expect(key.matches(right)).toBe(true)
    expect(key.matches(damaged.trim())).toBe(false)
    expect(key.matches('')).toBe(false)
    expect(key.session(cookie)).toBeDefined()
    expect(key.value).toBe(right)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('32 to 200')
    expect(lines[0]).not.toContain(right.slice(0, 16))
    // A repaired key applies at once.
    write(key, `${own}\n`)
    expect([key.matches(own), key.matches(right), key.session(cookie)]).toEqual([true, false, undefined])
  },
)

test.each(unusable)(
  'At a start, %s in the file is set aside, a new key is generated and a log line says so',
  (_what, damage) => {
    const at = folder()
    const right = new ConsoleKey(at, () => {}).value
    const damaged = damage(right)
    writeFileSync(join(at, 'console.key'), damaged)
    const lines: string[] = []
    const key = new ConsoleKey(at, (line) => lines.push(line))
    expect(key.value).toMatch(/^[\w-]{43}$/)
    expect(key.matches(damaged.trim())).toBe(false)
    expect(readFileSync(key.file, 'utf8')).toBe(`${key.value}\n`)
    expect(statSync(key.file).mode & 0o777).toBe(0o600)
    expect(readFileSync(`${key.file}.refused`, 'utf8')).toBe(damaged)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('a new key was created')
  },
)

test('A first start generates a key without a log line; a custom key of 32 characters is accepted', () => {
  const at = folder()
  const lines: string[] = []
  const key = new ConsoleKey(at, (line) => lines.push(line))
  expect(key.value).toMatch(/^[\w-]{43}$/)
  write(key, own)
  expect(key.matches(own)).toBe(true)
  rmSync(key.file)
  expect(key.matches(own)).toBe(true)
  expect(lines).toEqual([])
})
