import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

test.each(['docs/operate/security.md', 'SECURITY.md'])('Every file that %s names exists', async (page) => {
  const text = await readFile(join(root, page), 'utf8')
  const links = [...text.matchAll(/\[([^\]]+)\]\(([^)#]+)(?:#[^)]*)?\)/g)]
  expect(links.length).toBeGreaterThan(0)
  for (const [, name = '', path = ''] of links) {
    expect(existsSync(join(root, dirname(page), path)), path).toBe(true)
    if (path.endsWith('.ts')) expect(basename(path)).toBe(name)
  }
})

test('Every attack of the threat model names a test that shows the defence', async () => {
  const text = await readFile(join(root, 'docs/operate/security.md'), 'utf8')
  const table = text.split('## Attacks')[1]?.split('\n## ')[0] ?? ''
  const rows = table.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| attack |'))
  expect(rows.length).toBeGreaterThan(20)
  for (const row of rows) expect(row).toMatch(/\]\(\.\.\/\.\.\/test\/[^)]+\.test\.ts\)/)
})

test('The readmes link to it', async () => {
  for (const name of ['README.md', 'README.zh-CN.md'])
    expect(await readFile(join(root, name), 'utf8')).toContain('](SECURITY.md)')
})
