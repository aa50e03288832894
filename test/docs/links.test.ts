import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lexer, type Token, walkTokens } from 'marked'
import { expect, test } from 'vitest'
import { consoleLink, linkedFile } from '../../packaging/help/page-links.ts'
import { readPage } from '../../packaging/help/read-page.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string): Promise<string> => readFile(join(root, file), 'utf8')
const page = async (file: string) => readPage(await read(file), { file, textOf: () => undefined })

test('Every link of the docs leads to a file, and to a heading in it', async () => {
  const docs = (await readdir(join(root, 'docs'), { recursive: true })).filter((name) => name.endsWith('.md'))
  const loose = ['README.md', 'README.zh-CN.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']
  const files = [...docs.map((name) => `docs/${name}`), ...loose, 'test/support/README.md']
  const broken: string[] = []
  for (const file of files)
    for (const href of linksOf(await read(file))) {
      const linked = linkedFile(href, file)
      if (linked === undefined) continue
      const isThere = existsSync(join(root, linked.file))
      const needed = linked.file.endsWith('.md') ? linked.anchor : ''
      if (isThere && needed === '') continue
      const headings = isThere ? (await page(linked.file)).headings : []
      if (!headings.some(({ id }) => id === needed)) broken.push(`${file}: ${href}`)
    }
  expect(broken).toEqual([])
})

test('A page for the console has anchors as on GitHub, links of the console, and no HTML', () => {
  const text = `# The *site*
## Ports, and \`--host\`
## Ports, and --host
[data.md](data.md#damage) [up](#ports) [code](../../server/x.ts) [new](../../CHANGELOG.md) &lt; <b>x</b><!-- a note -->
![The page](../pictures/x.png)
`
  const texts: Record<string, string> = { 'docs/operate/data.md': '# The data folder' }
  const { title, headings, blocks } = readPage(text, { file: 'docs/operate/x.md', textOf: (file) => texts[file] })
  expect(title).toBe('The site')
  expect(headings.map(({ id }) => id)).toEqual(['ports-and---host', 'ports-and---host-1'])
  const link = (to: string, name: string) => ({ kind: 'link', to, parts: [name] })
  const [, , paragraph] = blocks
  expect(paragraph?.kind === 'paragraph' ? paragraph.parts.filter((part) => part !== ' ') : []).toEqual([
    link('/help/operate/data#damage', 'The data folder'),
    link('/help/operate/x#ports', 'up'),
    { kind: 'link', parts: ['code'] },
    link('/help/new', 'new'),
    ' < ',
    '<b>',
    'x',
    '</b>',
    '\n',
    { kind: 'image', src: '../pictures/x.png', text: 'The page' },
  ])
  expect(consoleLink('javascript:alert(1)', { file: 'docs/operate/x.md', textOf: () => undefined })).toBeUndefined()
})

/** Addresses of all links and pictures. */
function linksOf(text: string): string[] {
  const found: string[] = []
  void walkTokens(lexer(text), (token: Token) => {
    if ((token.type === 'link' || token.type === 'image') && typeof token.href === 'string') found.push(token.href)
  })
  return found
}
