import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const page = await readFile(join(root, 'docs/operate/scale.md'), 'utf8')

/** Reads the rows of a table by their first cell. */
function table(title: string): Map<string, string[]> {
  const [, text = ''] = page.split(`\n## ${title}\n`)
  const lines = (text.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| '))
  return new Map(
    lines.map((line) => {
      const [first = '', ...rest] = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim())
      return [first, rest]
    }),
  )
}

/** Finds the cells of a row by the beginning of its first cell. */
function row(rows: ReadonlyMap<string, string[]>, begin: string): string[] {
  const found = [...rows].filter(([first]) => first.startsWith(begin))
  expect(
    found.map(([first]) => first),
    begin,
  ).toHaveLength(1)
  return found[0]?.[1] ?? []
}

/** Reads a figure of the page in this unit, e.g. `2.15 ms/s, 0.2 MB`. */
function figure(cell: string, unit: 'ms/s' | 'MB'): number {
  const [, digits = ''] = new RegExp(`([\\d.,]+) ${unit}`).exec(cell) ?? []
  expect(digits, `${cell}: ${unit}`).not.toBe('')
  return Number(digits.replaceAll(',', ''))
}

test('docs/operate/scale.md computes its sites of each size from its own capacity of one node', () => {
  const costs = table('Capacity of a node')
  const sizes = table('Sites of 10, 100 and 1,000')
  const cost = (name: string, node: number, unit: 'ms/s' | 'MB'): number => figure(row(costs, name)[node] ?? '', unit)
  const counts = row(sizes, 'cameras and people')
    .slice(0, 3)
    .map((count) => Number(count.replace(',', '')))
  expect(counts).toEqual([10, 100, 1_000])
  const all = (node: number, unit: 'ms/s' | 'MB', each: (count: number) => number): number[] => {
    // A camera of twice the rate costs twice the work, and no more memory.
    const camera = (unit === 'MB' ? 1 : 2) * cost('a camera', node, unit)
    const one = camera + cost('a viewer', node, unit) + 9 * cost('a person', node, unit)
    return counts.map((count) => each(count * one))
  }
  const said = (name: string): number[] =>
    row(sizes, name)
      .slice(0, 3)
      .map((cell) => Number(cell.replaceAll(',', '')))
  const rounded = (value: number): number => Number(value < 10 ? value.toFixed(1) : value.toFixed(0))
  expect(said('Mbit/s in')).toEqual(counts.map((count) => rounded(count * 2.5)))
  expect(said('Mbit/s out')).toEqual(counts.map((count) => rounded(count * 6.5)))
  for (const [node, name] of ['embedded nodes', 'Janus servers'].entries()) {
    expect(said(`cores of ${name}`), name).toEqual(all(node, 'ms/s', (ms) => rounded(ms / 1_000)))
    expect(said(`MB of ${name}`), name).toEqual(all(node, 'MB', (mb) => rounded(mb)))
  }
  expect(said('embedded nodes')).toEqual(all(0, 'ms/s', (ms) => Math.ceil(ms / 700)))
  const servers = all(1, 'ms/s', (ms) => Math.ceil(ms / (4 * 700)))
  const links = counts.map((count) => Math.ceil((count * 6.5) / 700))
  expect(said('Janus servers of 4 cores')).toEqual(servers.map((count, index) => Math.max(count, links[index] ?? 0)))
})

test('Every command and link of docs/operate/scale.md exists, and the other pages link to it', async () => {
  const commands = [...page.matchAll(/`npm run (bench|faults) -- ([^`]+)`/g)]
  expect(commands.length).toBeGreaterThan(10)
  const faults = await readdir(join(root, 'test/faults'))
  for (const [command, what, names = ''] of commands) {
    for (const name of names.split(' ')) {
      if (what === 'faults') {
        expect(
          faults.filter((file) => file.startsWith(name)),
          command,
        ).not.toEqual([])
        continue
      }
      const [part = '', asked] = name.split(':')
      const source = await readFile(join(root, `test/bench/${part}.ts`), 'utf8')
      if (asked !== undefined) expect(source, command).toMatch(new RegExp(`\\b${asked}\\b`))
    }
  }
  for (const [, path = ''] of page.matchAll(/`npx vitest run ([^`]+)`/g)) {
    expect(existsSync(join(root, path)), path).toBe(true)
  }
  for (const [, path = ''] of page.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
    expect(existsSync(join(root, 'docs/operate', path)), path).toBe(true)
  }
  for (const from of ['README.md', 'README.zh-CN.md', 'docs/operate/install.md', 'docs/develop/architecture.md']) {
    expect(await readFile(join(root, from), 'utf8'), from).toContain('scale.md')
  }
})
