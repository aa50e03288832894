import { isAbsolute, join, relative, sep, win32 } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { insideOf, isPathPart, PathError, withSuffix } from '../../../shared/files/own-path.ts'
import { isRecordedPath, recordedPath } from '../../../shared/files/recorded-path.ts'
import { segmentPath } from '../../../shared/recordings/segment-path.ts'

const folder = join(sep, 'data', 'recordings')
/** Texts that leave a folder somewhere, among texts of any kind. */
const hostile = fc.oneof(
  fc.constantFrom(
    '..',
    '.',
    '',
    '/',
    '\\',
    'C:',
    'C:\\x',
    '\\\\host\\share',
    'a/../..',
    'CON',
    'nul.mp4',
    'com1',
    'x:ads',
  ),
  fc.constantFrom('a\0b', 'a.', 'a ', '..\\..', '%2e%2e', '~', 'LPT¹.txt', 'AUX .mp4', 'é'.repeat(200)),
  fc.string(),
  fc.string({ unit: 'binary' }),
)

function outcome(make: () => string): string | undefined {
  try {
    return make()
  } catch (error) {
    expect(error).toBeInstanceOf(PathError)
    return undefined
  }
}

describe('a path inside a folder', () => {
  test('never leaves it, on any system, and keeps its depth', () => {
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 5 }), (parts) => {
        const path = outcome(() => insideOf(folder, ...parts))
        if (path === undefined) return
        const below = relative(folder, path)
        expect(isAbsolute(below)).toBe(false)
        expect(below.split(sep)).toEqual(parts)
        const onWindows = win32.join('C:\\data', ...parts)
        expect(win32.relative('C:\\data', onWindows).split('\\')).toEqual(parts)
      }),
      { numRuns: 5_000 },
    )
  })

  test('no suffix leaves it either', () => {
    fc.assert(
      fc.property(hostile, (suffix) => {
        const path = outcome(() => withSuffix(insideOf(folder, 'file'), suffix))
        if (path !== undefined) expect(relative(folder, path)).toBe(`file${suffix}`)
      }),
    )
  })

  test.each(['..', '.', '', 'a/b', 'a\\b', 'c:', 'NUL', 'con.txt', 'COM9.mp4', 'name.', 'name ', 'a\0', 'a\n', '*'])(
    '%j is no name',
    (name) => expect(isPathPart(name)).toBe(false),
  )
  test.each([
    'a',
    '.exports',
    '~files',
    'notes.jsonl',
    'console',
    'nullable.txt',
    'Büro 1',
    '会议',
    '1764300000000.mp4',
  ])('%j is a name', (name) => expect(isPathPart(name)).toBe(true))

  test('a folder without a name has no files', () => {
    expect(() => insideOf('', 'a')).toThrow(PathError)
    expect(() => insideOf(folder)).toThrow(PathError)
  })
})

describe('the path of a recording', () => {
  const id = fc.oneof(hostile, fc.string({ minLength: 1, maxLength: 128 }))
  test('is valid for any stream and start, whatever its ids', () => {
    const moment = fc.integer({ min: 0, max: 8_640_000_000_000_000 })
    fc.assert(
      fc.property(
        id,
        id,
        moment,
        fc.constantFrom('mp4' as const, 'webm' as const),
        (roomId, userId, startedAt, container) => {
          fc.pre(roomId !== '' && userId !== '')
          const stream = { roomId, userId, source: 'main', quality: 'main' } as const
          const file = segmentPath(stream, startedAt, container)
          expect(isRecordedPath(file)).toBe(true)
          expect(relative(folder, recordedPath(folder, file)).split(sep).join('/')).toBe(file)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('read from a row or a listing never leads to another file than media in the folder', () => {
    const files = fc.oneof(
      hostile,
      fc.array(hostile, { maxLength: 4 }).map((parts) => parts.join('/')),
      fc.array(hostile, { maxLength: 4 }).map((parts) => `${parts.join('/')}/1.mp4`),
      fc.constantFrom('../seal.key', '../../x/1.mp4', '/etc/1.mp4', 'a/seal.key', 'index.sqlite', 'a/notes.jsonl'),
    )
    fc.assert(
      fc.property(files, (file) => {
        const path = outcome(() => recordedPath(folder, file))
        expect(path !== undefined).toBe(isRecordedPath(file))
        if (path === undefined) return
        expect(relative(folder, path).split(sep)).not.toContain('..')
        expect(path).toMatch(/\.(mp4|webm)$/)
      }),
      { numRuns: 5_000 },
    )
  })
})
