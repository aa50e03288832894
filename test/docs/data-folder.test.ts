import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startHeadless } from '../support/headless.ts'

test('docs/operate/data.md lists every file and folder of the data folder of a running controller', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/operate/data.md'), 'utf8')
  const rows = page.slice(page.indexOf('| file | content |'), page.indexOf('## Damage')).match(/^\| `.*?` \|/gm) ?? []
  const listed = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name = '']) => patternOf(name)))
  const server = await startHeadless({
    site: { nodes: [{ name: 'here', kind: 'embedded' }], settings: { tls: { mode: 'self-signed' } } },
  })
  onTestFinished(() => server.remove())
  await server.rpc('rooms.create', { topic: 'A room' })
  await server.rpc('backups.make', {})
  const there = await readdir(server.folder)
  expect(there.filter((name) => !listed.some((pattern) => pattern.test(name)))).toEqual([])
  expect(there).toEqual(expect.arrayContaining(['backups', 'events', 'recordings', 'seal.key', 'tls']))
})

/** Pattern for a name of the table: `*` is any text, `N` a digit, and a folder ends with `/`. */
function patternOf(name: string): RegExp {
  const text = name.replace(/\/$/, '').replaceAll('.', String.raw`\.`)
  return new RegExp(`^${text.replaceAll(/\*|<time>/g, '.+').replaceAll(/N{3,}/g, String.raw`\d+`)}$`)
}
