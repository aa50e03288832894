import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
/** Characters in five lines of 120 columns. */
const maxCharacters = 600

test('No paragraph of the docs is longer than five lines of 120 columns', async () => {
  const pages = (await readdir(join(root, 'docs'), { recursive: true })).filter((name) => name.endsWith('.md'))
  const files = [...pages.map((name) => join('docs', name)), 'README.md', 'README.zh-CN.md', 'CONTRIBUTING.md']
  const long: string[] = []
  for (const file of files)
    for (const paragraph of paragraphs(await readFile(join(root, file), 'utf8')))
      if (paragraph.length > maxCharacters) long.push(`${file}: ${paragraph.slice(0, 60)}`)
  expect(long).toEqual([])
})

/** Lists paragraphs and list items of a page, without its code, tables and headings. Links count by their text. */
function paragraphs(text: string): string[] {
  const found: string[] = []
  let current = ''
  let inCode = false
  for (const line of [...text.split('\n'), '']) {
    const isFence = /^\s*```/.test(line)
    if (isFence) inCode = !inCode
    const isText = !isFence && !inCode && !/^\s*([|#]|$)/.test(line)
    if (!isText || /^\s*([-*]|\d+\.) /.test(line)) {
      if (current !== '') found.push(current.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'))
      current = ''
    }
    if (isText) current += `${line.trim()} `
  }
  return found
}
