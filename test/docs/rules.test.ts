import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'

const develop = join(import.meta.dirname, '../../docs/develop')
const maxWords = 35
/** Pages that follow one thing through the code. */
const walks = [
  ...['life-of-a-camera', 'life-of-a-packet', 'life-of-a-recording', 'life-of-a-token', 'life-of-a-visit'],
  ...['shutdown', 'who-leads'],
]

test('Every rule answers a question, in at most 35 words, and names the file that implements it', async () => {
  const pages = (await readdir(join(develop, 'rules'))).filter((name) => name.endsWith('.md'))
  const index = await readFile(join(develop, 'rules.md'), 'utf8')
  const questions: string[] = []
  for (const page of pages) {
    expect(index).toContain(`(rules/${page})`)
    for (const row of await rowsOf(join(develop, 'rules'), page)) {
      expect(row.cells[0], row.line).toMatch(/\?$/)
      questions.push(row.cells[0] ?? '')
    }
  }
  expect(questions.length).toBeGreaterThan(250)
  expect(questions.filter((question, at) => questions.indexOf(question) !== at)).toEqual([])
})

test.each(walks)('Every step of %s has at most 35 words and names the file that implements it', async (walk) => {
  expect((await rowsOf(develop, `${walk}.md`)).length).toBeGreaterThan(10)
  expect((await readFile(join(develop, `${walk}.md`), 'utf8')).split('\n').length).toBeLessThanOrEqual(80)
})

/** Rows of the tables of a page, without heads. Checks their words and their links to files. */
async function rowsOf(folder: string, page: string): Promise<{ line: string; cells: string[] }[]> {
  const lines = (await readFile(join(folder, page), 'utf8')).split('\n')
  const isRow = (line: string | undefined): boolean => line?.startsWith('| ') === true
  const rows = lines.filter((line, at) => isRow(line) && lines[at + 1]?.startsWith('|---') !== true)
  return rows.map((line) => {
    const cells = line.slice(2, -2).split(' | ')
    const words = cells.slice(0, -1).join(' ').split(/\s+/)
    expect(words.filter((word) => /\w/.test(word)).length, line).toBeLessThanOrEqual(maxWords)
    const links = [...(cells.at(-1) ?? '').matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)]
    expect(links.length, line).toBeGreaterThan(0)
    for (const [, name = '', path = ''] of links) {
      expect(existsSync(join(folder, path)), `${path}: ${line}`).toBe(true)
      expect(basename(path)).toBe(name)
    }
    return { line, cells }
  })
}
