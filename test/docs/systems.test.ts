import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const folder = join(root, 'docs/develop')
const rows = readFileSync(join(folder, 'systems.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && line.includes('](../../'))
const linked = (text: string): string[] =>
  Array.from(text.matchAll(/\]\((\.\.\/\.\.\/[^)#]+)\)/g), ([, path = '']) => resolve(folder, path))

/** Calls that differ by system: questions for it, signals, renames, links, modes, priorities, replaced processes, files of Linux. */
const marks =
  /process\.platform|\bplatform(: \w+)? = process|\bplatform [!=]==|'(win32|darwin)'|execve|O_DSYNC|['"`]\/(proc|sys)\/|(?<!(?:[.#\w]|async |get ))(rename|renameSync|link)\(|(?<![.#])process\.kill\(|setPriority|\bchmod(Sync)?\(|SIGHUP|SIGBREAK|\bAPPIMAGE\b/
/** Scripts that start the app. */
const scripts = ['electron-program', 'fetch-electron', 'headless', 'node-version', 'start'].map(
  (name) => `scripts/${name}.mjs`,
)

const codeOf = (path: string): string =>
  readFileSync(path, 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(^|\s)\/\/.*$/gm, '')

test('Each call that differs by system is in the table of systems', () => {
  const named = new Set(rows.flatMap(linked))
  const files = globSync(['server/**/*.ts', 'main/**/*.ts', ...scripts], { cwd: root })
  const missing = files.filter((file) => {
    return marks.test(codeOf(join(root, file))) && !named.has(join(root, file))
  })
  expect(missing.sort()).toEqual([])
})

test('Each row of the table of systems has a test that exists', () => {
  const without = rows.filter((row) => {
    const tests = linked(row.split(' | ').at(-1) ?? '')
    return tests.length === 0 || !tests.every((path) => path.endsWith('.test.ts') && existsSync(path))
  })
  expect(without).toEqual([])
})
