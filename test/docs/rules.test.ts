import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'

const docs = join(import.meta.dirname, '../../docs')

test('Every line of docs/rules.md has at most 35 words and names a file that holds the rule', async () => {
  const text = await readFile(join(docs, 'rules.md'), 'utf8')
  const rules = text.split('\n').filter((line) => line.startsWith('- '))
  expect(rules.length).toBeGreaterThan(40)
  for (const rule of rules) {
    const sentence = rule.slice(2).replaceAll(/\[[^\]]+\]\([^)]+\)/g, '')
    expect(sentence.split(/\s+/).filter((word) => /\w/.test(word)).length, rule).toBeLessThanOrEqual(35)
    const links = [...rule.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)]
    expect(links.length, rule).toBeGreaterThan(0)
    for (const [, name = '', path = ''] of links) {
      expect(existsSync(join(docs, path)), `${path}: ${rule}`).toBe(true)
      expect(basename(path)).toBe(name)
    }
  }
})
