import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** Text of a test file and of all modules in `test/` that it imports, by path from the project's root. */
export type Sources = ReadonlyMap<string, string>

const texts = new Map<string, string>()

/** Reads a test file with the modules in `test/` that it imports, directly or through others. */
export function sourcesOf(file: string): Sources {
  const found = new Map<string, string>()
  const add = (path: string): void => {
    const name = relative(root, path).split(sep).join('/')
    if (found.has(name) || !name.startsWith('test/') || !existsSync(path)) return
    const text = texts.get(path) ?? readFileSync(path, 'utf8')
    texts.set(path, text)
    found.set(name, text)
    for (const [, imported = ''] of text.matchAll(/(?:from|import|import\()\s*'(\.[^']+\.ts)'/g))
      add(join(dirname(path), imported))
  }
  add(file)
  return found
}

/** Whether a test file starts the built program or reads other files of the build. */
export const needsBuild = (sources: Sources): boolean => sources.has('test/support/built.ts')

/** A test file with its sources. */
interface TestFile {
  file: string
  sources: Sources
}

/**
 * Returns the files that may contain a test of this name: those with the name in the text of the file or of a module
 * that it imports, other than support. If no file has it, the name is composed: files with all of its words.
 * @param pattern regular expression, as given to `-t`
 */
export function withTest<F extends TestFile>(files: readonly F[], pattern: string): F[] {
  const name = new RegExp(pattern)
  const named = files.filter(({ file, sources }) =>
    [...sources].some(([path, text]) => (!path.startsWith('test/support/') || file.endsWith(path)) && name.test(text)),
  )
  if (named.length > 0) return named
  const words = pattern.split(/[^\p{L}\p{N}]+/u)
  return files.filter(({ sources }) => {
    const whole = [...sources.values()].join('\n')
    return words.every((word) => whole.includes(word))
  })
}
